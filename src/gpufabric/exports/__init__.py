"""Cluster → the files of another program, one target a file; each defines ``TARGET``, the verb is ``write``."""

from gpufabric.exports import addresses, frr, hosts, nccl_conf, slurm_tree, sonic
from gpufabric.records.export_target import ExportTarget

_TARGETS: tuple[ExportTarget, ...] = (
    slurm_tree.TARGET,
    addresses.TARGET,
    frr.TARGET,
    sonic.TARGET,
    hosts.TARGET,
    nccl_conf.TARGET,
)
EXPORTS: dict[str, ExportTarget] = {target.name: target for target in _TARGETS}
