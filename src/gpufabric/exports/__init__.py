"""Cluster → the files of another program, one target a file; each defines ``TARGET``, the verb is ``write``."""

from gpufabric.exports import (
    air,
    containerlab,
    dot,
    drawio,
    graphml,
    ibnetdiscover,
    ibsim,
    k8s_labels,
    mermaid,
    netbox,
    opensm_maps,
    ptm,
    slurm_block,
    slurm_tree,
    slurm_yaml,
    ufm,
)
from gpufabric.records.export_target import ExportTarget

_TARGETS: tuple[ExportTarget, ...] = (
    air.TARGET,
    containerlab.TARGET,
    dot.TARGET,
    drawio.TARGET,
    graphml.TARGET,
    ibnetdiscover.TARGET,
    ibsim.TARGET,
    k8s_labels.TARGET,
    mermaid.TARGET,
    netbox.TARGET,
    opensm_maps.TARGET,
    ptm.TARGET,
    slurm_block.TARGET,
    slurm_tree.TARGET,
    slurm_yaml.TARGET,
    ufm.TARGET,
)
EXPORTS: dict[str, ExportTarget] = {target.name: target for target in _TARGETS}
