"""What a library's choice is expected to cost: a time with its range, and where both come from."""

from __future__ import annotations

from dataclasses import dataclass

from gpufabric.records.binding_limit import BindingLimit


@dataclass(frozen=True, slots=True)
class Estimate:
    """The time of one algorithm and protocol for one size.

    Attributes
    ----------
    algorithm, protocol : str
    channels : int
    time_s, low_s, high_s : float
        Centre and the 80 % range.
    slow_s : float
        97.5 % one-sided limit: a healthy cluster is slower only once in forty.
    latency_s, wire_s : float
        What does not depend on the size, and what does; ``time_s`` is not always their sum.
    calibration : str
        Which constants were used, such as ``nccl h100 simple``.
    clusters : int
        Published clusters that these rest on; 0 when none.
    widened : bool
        The range was widened because there are too few clusters of the class.
    together : int, optional
        Published clusters that had both the job's links inside servers and its network; None on one node.
    """

    algorithm: str
    protocol: str
    channels: int
    time_s: float
    low_s: float
    high_s: float
    slow_s: float
    latency_s: float
    wire_s: float
    calibration: str
    clusters: int
    widened: bool
    together: int | None = None


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate, the settings that have to change for it, and what the library expects of it.

    ``quiet_s`` are the seconds with nothing but its own servers and NICs to wait for: the library chooses by these, whatever
    links its messages share on the wiring.
    """

    estimate: Estimate
    settings: tuple[str, ...]
    quiet_s: float


@dataclass(frozen=True, slots=True)
class LibraryChoice:
    """What a library would do, and the best that its settings allow.

    Attributes
    ----------
    configured : Estimate
        With the version and settings of the description.
    attainable : Estimate
        The fastest of everything that may be set.
    settings : tuple of str
        What lies between, such as ``NCCL_MIN_CTAS=24``; empty when nothing does.
    considered : tuple of Considered
        Every candidate, fastest first.
    quiet_s : float
        What the library expects of its choice, as :class:`Considered` has it.
    ruled_out : tuple of (str, str)
        Algorithm and why it may not be used here.
    limit : BindingLimit
        What sets the time of the configured choice.
    """

    configured: Estimate
    attainable: Estimate
    settings: tuple[str, ...]
    considered: tuple[Considered, ...]
    ruled_out: tuple[tuple[str, str], ...]
    limit: BindingLimit
    quiet_s: float
