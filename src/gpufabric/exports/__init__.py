"""Cluster → the files of another program, one target a file; each defines ``TARGET``, the verb is ``write``."""

from gpufabric.exports import (
    addresses,
    air,
    containerlab,
    dot,
    drawio,
    frr,
    graphml,
    hosts,
    ibnetdiscover,
    ibsim,
    k8s_labels,
    mermaid,
    nccl_conf,
    nccl_topology,
    netbox,
    opensm_maps,
    ptm,
    simulators,
    slurm_block,
    slurm_tree,
    slurm_yaml,
    sonic,
    ufm,
)
from gpufabric.records.export_target import ExportTarget

_TARGETS: tuple[ExportTarget, ...] = (
    addresses.TARGET,
    air.TARGET,
    containerlab.TARGET,
    dot.TARGET,
    drawio.TARGET,
    frr.TARGET,
    graphml.TARGET,
    hosts.TARGET,
    ibnetdiscover.TARGET,
    ibsim.TARGET,
    k8s_labels.TARGET,
    mermaid.TARGET,
    nccl_conf.TARGET,
    nccl_topology.TARGET,
    netbox.TARGET,
    opensm_maps.TARGET,
    ptm.TARGET,
    *simulators.SIMULATORS,
    slurm_block.TARGET,
    slurm_tree.TARGET,
    slurm_yaml.TARGET,
    sonic.TARGET,
    ufm.TARGET,
)
EXPORTS: dict[str, ExportTarget] = {
    target.name: target for target in sorted(_TARGETS, key=lambda one: one.name)
}
