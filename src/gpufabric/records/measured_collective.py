"""A published measurement of one collective, as a table of measurements has it."""

from __future__ import annotations

from dataclasses import dataclass

TORCH, ONE_PROCESS = "torch.distributed", "one process"
"""Tools that add to the times they measure."""


@dataclass(frozen=True, slots=True)
class MeasuredCollective:
    """One row of a table of measurements.

    Attributes
    ----------
    id, cluster, source : str
    hw_class : str
        Class of hardware that figures are given by; empty: that of the GPU in the description.
    line : int
        Of the file.
    kind : str
        ``measured``; anything else, such as ``vendor_expected``, is no measurement.
    op : str
        The operation by gpufabric's name.
    nodes, gpus, size_bytes : int
    time_s : float
        As measured, or size and bandwidth as measured turned into a time.
    busbw_bytes_per_s : float
        As measured, or from the time.
    rounding : float
        Half of the last digit of what was published, as a share of it: no prediction can be judged closer.
    nics_known : bool
        Number and rate of the NICs of a node were published.
    library_version, settings_text : str
        As the table has them.
    tool : str
        What measured, where it adds to the time: ``torch.distributed``, or ``one process`` that drives all GPUs of a node; empty:
        nccl-tests with a process a GPU, or unknown.
    cluster_spec, rank_order : str
        Path of the description of the cluster, and the order of the ranks; empty where the table is silent.
    """

    id: str
    cluster: str
    hw_class: str
    source: str
    line: int
    kind: str
    op: str
    nodes: int
    gpus: int
    size_bytes: int
    time_s: float
    busbw_bytes_per_s: float
    rounding: float
    nics_known: bool
    library_version: str = ""
    settings_text: str = ""
    tool: str = ""
    cluster_spec: str = ""
    rank_order: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that can't be predicted, and why."""

    id: str
    cluster: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class MeasuredTableFile:
    """The rows of a file, and those that could not be read."""

    file: str
    rows: tuple[MeasuredCollective, ...]
    left_out: tuple[LeftOut, ...]
