"""What a computation says: value, range, method, assumptions, findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ConsideredTime:
    """A candidate of a library: the seconds that it takes on this wiring, and those that the library expects of it.

    ``quiet_time_s`` knows of links inside servers and of NICs only. Of the candidates without ``settings``, which have to change
    for the others, the library runs the one with the least of it.
    """

    algorithm: str
    protocol: str
    time_s: float
    quiet_time_s: float
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectiveResult:
    """The predicted cost of one collective of one size; the field names are those of the JSON output.

    ``time_low_s`` and ``time_high_s`` bound the 80 % range. Bus bandwidth follows nccl-tests: for all_reduce
    algbw × 2(n − 1)/n with algbw = size / time.

    ``latency_s`` and ``wire_s`` are the parts of the time that do not and do depend on the size; ``calibration`` names the fitted
    constants and ``clusters`` how many published clusters they rest on, ``clusters_together`` how many of these had both the
    links inside servers and the network of this job (None on one node); ``shares`` are those of
    :class:`gpufabric.records.binding_limit.BindingLimit`; ``attainable_settings`` lie between the configured and the
    attainable figure; ``ruled_out`` are algorithms that may not be used here, each with the reason.
    ``time_slow_s`` is what a healthy cluster exceeds once in forty. ``healthy_busbw_bytes_per_s`` is given where faults were
    asked for: the same without them.

    ``line_rate_bytes_per_s`` is what the bus bandwidth is compared with: the NICs of the node that has least, one direction (one
    GPU's part of them for all_to_all and send_recv), or in one node the links of one GPU. ``wired_busbw_bytes_per_s`` is the bus
    bandwidth of the algorithm on this wiring with all links at their nominal rates and no latency. ``considered`` are the
    candidates, each algorithm and protocol once, fastest first.

    ``ceiling_busbw_bytes_per_s`` is that of the configured figure and ``attainable_ceiling_busbw_bytes_per_s`` that of the
    attainable one, each with in-network reduction where its algorithm (``attainable_algorithm``) has it.
    ``plain_ceiling_busbw_bytes_per_s`` is the ceiling without, ``in_network_ceiling_busbw_bytes_per_s`` the one with switches
    that add (SHARP), None where they have nothing to add; each has its name.

    ``attainable_busbw_bytes_per_s`` is None where it was not searched for: other orders of very many ranks.
    ``changes_rail``: rings enter nodes by one NIC and leave by another.

    ``shares`` count at the rates that the library reaches, ``nominal_shares`` at nominal rates.
    """

    op: str
    size_bytes: int
    gpus: int
    rank_order: str
    time_s: float
    time_low_s: float
    time_high_s: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    attainable_busbw_bytes_per_s: float | None
    ceiling_busbw_bytes_per_s: float
    ceiling_name: str
    algorithm: str
    protocol: str
    channels: int
    library: str
    bottleneck: str
    method: str
    assumptions: tuple[str, ...] = ()
    attainable_settings: tuple[str, ...] = ()
    latency_s: float | None = None
    wire_s: float | None = None
    calibration: str = ""
    clusters: int = 0
    shares: dict[str, float] = field(default_factory=dict)
    ruled_out: tuple[tuple[str, str], ...] = ()
    healthy_busbw_bytes_per_s: float | None = None
    time_slow_s: float | None = None
    nodes: int = 1
    line_rate_bytes_per_s: float | None = None
    wired_busbw_bytes_per_s: float | None = None
    considered: tuple[ConsideredTime, ...] = ()
    in_network_ceiling_busbw_bytes_per_s: float | None = None
    in_network_ceiling_name: str = ""
    plain_ceiling_busbw_bytes_per_s: float | None = None
    plain_ceiling_name: str = ""
    attainable_algorithm: str = ""
    attainable_ceiling_busbw_bytes_per_s: float | None = None
    nominal_shares: dict[str, float] = field(default_factory=dict)
    clusters_together: int | None = None
    changes_rail: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)
