"""Constants of the model of time of collectives: what a class of hardware adds to nominal rates and counted steps."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from gpufabric.records.job_situation import JobSituation

_Seconds = Annotated[float, Field(ge=0, lt=1)]
_Share = Annotated[float, Field(gt=0, le=1)]
_Factor = Annotated[float, Field(gt=0, lt=1000)]
MANY_NODES = 3
"""From here on the inner nodes of a tree have two children."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ProtocolConstants(_Strict):
    """How a protocol moves a message.

    ``base_s`` once; ``inside_step_s`` and ``fabric_step_s`` for each step inside a node and between nodes. ``fill`` is how much
    longer the steps of a long message take, as a factor of those of a short one on top: buffers fill before they are passed on.
    ``rate_share`` is the part of the rate that carries data. ``most_bus_bytes_per_s`` bounds the bus bandwidth on one node, two,
    and more; None: nothing does.
    """

    base_s: _Seconds
    inside_step_s: _Seconds
    fabric_step_s: _Seconds
    rate_share: _Share
    fill: _Factor
    most_bus_bytes_per_s: tuple[float, float, float] | None = None


class ScaleUpClass(_Strict):
    """GPUs of one generation and how they reach each other: ``gpus`` are patterns of part ids, ``kinds`` those of a job.

    ``base_factor`` scales the base and ``step_factor`` the steps inside. ``rate_share`` is reached by a ring on all links at
    once, ``multicast_share`` by sums in the switches (None: the class has none).
    """

    gpus: tuple[str, ...]
    kinds: tuple[str, ...]
    base_factor: _Factor
    step_factor: _Factor
    rate_share: _Share
    multicast_share: _Share | None = None
    clusters: tuple[str, ...] = ()


class NetworkClass(_Strict):
    """Networks: ``networks`` and ``nics`` (patterns of part ids) are those of a job; the first class that fits is taken.

    ``step_factor`` scales the steps between nodes. ``fill_factor`` is how much longer than inside a node its steps take to fill:
    bytes wait for a proxy on the host and for the NIC on each side.
    """

    networks: tuple[str, ...]
    nics: tuple[str, ...]
    step_factor: _Factor
    rate_share: _Share
    fill_factor: _Factor = 1.0
    clusters: tuple[str, ...] = ()


class AlgorithmConstants(_Strict):
    """What an algorithm reaches of the shares of the hardware.

    ``inside_share`` on the links inside, ``several_nodes_share`` there too when it leaves the node, ``many_nodes_share`` between
    ``MANY_NODES`` or more. A share above 1 says that the class's share, of a ring in one node, is not the links' own.
    """

    inside_share: Annotated[float, Field(gt=0, le=1.3)] = 1.0
    several_nodes_share: Annotated[float, Field(gt=0, le=1.3)] = 1.0
    many_nodes_share: _Share = 1.0


class ResidualRange(_Strict):
    """Logarithms of measured / estimated time at 10, 90 and 97.5 %, of clusters that were left out of the fit.

    ``new_low``, ``new_high`` and ``new_slow`` are those of clusters that had no other of their class.
    """

    low: float
    high: float
    slow: float
    new_low: float
    new_high: float
    new_slow: float
    clusters: int = Field(ge=0)
    rows: int = Field(ge=0)


class Adjustment(_Strict):
    """What a user's own measurements changed: factors on latencies and on rates, for one class, network and protocol."""

    scale_up: str
    network: str
    protocol: str
    latency_factor: _Factor
    rate_factor: _Factor
    observations: int = Field(ge=1)


class CalibrationSource(_Strict):
    """Where measurements were read: ``place`` is the file, at ``commit``, inside the repository ``url``."""

    title: str
    url: str = ""
    commit: str = ""
    place: str = ""
    read: str


class Calibration(_Strict):
    """A whole calibration.

    ``ranges`` are named by nodes and band of sizes, see :meth:`ranges_of`. ``other_start_s`` is what
    torch.distributed adds to each measured time. ``launch_s`` is what a process that drives several GPUs takes to launch on one:
    it launches one after the other, so no step it measures is shorter than GPUs · ``launch_s`` (0: not known).
    ``clusters`` and ``rows`` count what was fitted, ``left_out`` rows by the reason.
    """

    name: str
    script: str
    protocols: dict[str, ProtocolConstants]
    multicast: ProtocolConstants
    scale_ups: dict[str, ScaleUpClass]
    networks: dict[str, NetworkClass]
    algorithms: dict[str, AlgorithmConstants]
    operations: dict[str, _Share | Annotated[float, Field(gt=0, le=1.25)]]
    other_start_s: _Seconds
    launch_s: _Seconds = 0.0
    ranges: dict[str, ResidualRange]
    adjustments: tuple[Adjustment, ...] = ()
    clusters: int = Field(ge=0)
    rows: int = Field(ge=0)
    left_out: dict[str, int] = Field(default_factory=dict)
    sources: tuple[CalibrationSource, ...] = ()

    def scale_up_of(self, situation: JobSituation) -> str:
        """Return the name of the class of a job's GPUs; the last one fits all.

        One rank a node uses no links inside: how its GPUs reach each other says nothing, their generation alone does.
        """
        unused = situation.nodes > 1 and situation.node_ranks == 1
        for name, known in self.scale_ups.items():
            if (unused or situation.scale_up in known.kinds) and _fits(situation.gpu, known.gpus):
                return name
        return list(self.scale_ups)[-1]

    def network_of(self, situation: JobSituation) -> str:
        """Return the name of the class of a job's network, empty on one node; the last one fits all."""
        if situation.nodes < 2:
            return ""
        for name, known in self.networks.items():
            if situation.network in known.networks and _fits(situation.nic, known.nics):
                return name
        return list(self.networks)[-1]

    def ranges_of(self, nodes: int) -> tuple[ResidualRange, ...]:
        """Return the ranges of a number of nodes, in the order of ``BAND_CENTRES_BYTES``."""
        return tuple(
            self.ranges[f"{'one-node' if nodes < 2 else 'several-nodes'}-{band}"]
            for band in BAND_CENTRES_BYTES
        )


SMALL_BYTES = 1 << 16
LARGE_BYTES = 1 << 24
BAND_CENTRES_BYTES = {"small": 1 << 12, "middle": 1 << 20, "large": 1 << 28}
"""Where a band's quantiles hold: near the median size of its measurements."""


def size_band(size_bytes: int) -> str:
    """Return the name of a size's band."""
    return "small" if size_bytes <= SMALL_BYTES else "middle" if size_bytes < LARGE_BYTES else "large"


def _fits(part: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(part, pattern) for pattern in patterns)
