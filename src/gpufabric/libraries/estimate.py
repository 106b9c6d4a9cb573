"""A priced algorithm, a protocol and a size → the time that hardware of this class takes, with its range.

The model: T = base + H + W + F · W / (W + F). H are the steps that follow one another, W the time of the bytes at the rates of
links times the shares that the class reaches. The last term is what filling the pipeline costs: nothing for a short message,
F = fill · (H inside + factor of the network · H between nodes) for a long one.
How the constants are fitted: docs/explanation/how-times-are-calibrated.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.libraries.times_to_range import range_of_time
from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.calibration import (
    MANY_NODES,
    Adjustment,
    Calibration,
    NetworkClass,
    ProtocolConstants,
)
from gpufabric.records.estimate import Estimate
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm

Floats = NDArray[np.float64]
MULTICAST = ("nvls", "nvls_tree")
#: Of the limits inside and between nodes the slower one counts; near each other both do.
SHARPNESS = 32.0


@dataclass(frozen=True, slots=True)
class TimeParts:
    """Seconds of what makes up a time.

    ``start_s`` are the base and the steps of an empty message, ``path_s`` cables and switches, ``wire_s`` the bytes,
    ``full_s`` what filling the pipeline costs a long message.
    """

    start_s: float
    path_s: float
    wire_s: float
    full_s: float

    @property
    def filling_s(self) -> float:
        """What filling the pipeline costs this message."""
        return float(filling_time(np.array([self.wire_s]), np.array([self.full_s]))[0])

    @property
    def time_s(self) -> float:
        """The whole."""
        return self.start_s + self.path_s + self.wire_s + self.filling_s


def wire_time(inside_s: Floats, fabric_s: Floats) -> Floats:
    """Return the seconds of the bytes, from those at the limit inside nodes and at that between them (0: there is none)."""
    slower, faster = np.maximum(inside_s, fabric_s), np.minimum(inside_s, fabric_s)
    share = np.divide(faster, slower, out=np.zeros_like(slower), where=slower > 0)
    return np.asarray(slower * (1 + share**SHARPNESS) ** (1 / SHARPNESS))


def filling_time(wire_s: Floats, full_s: Floats) -> Floats:
    """Return the seconds that filling the pipeline takes: little for a short message, ``full_s`` for a long one."""
    total = wire_s + full_s
    return np.divide(wire_s * full_s, total, out=np.zeros_like(total), where=total > 0)


@dataclass(frozen=True, slots=True)
class TimeLaw:
    """What does not depend on the size: seconds as in :class:`TimeParts`, and rates in bytes of the message per second."""

    start_s: float
    path_s: float
    inside_bytes_per_s: float
    fabric_bytes_per_s: float
    full_s: float

    def parts(self, size_bytes: int) -> TimeParts:
        """Return the parts of the time of one size."""
        wire_s = float(self._wire_s(np.array([float(size_bytes)]))[0])
        return TimeParts(self.start_s, self.path_s, wire_s, self.full_s)

    def times(self, sizes_bytes: Floats) -> Floats:
        """Return the seconds, (n,) float64, of sizes, (n,) float64."""
        wire_s = self._wire_s(sizes_bytes)
        return self.start_s + self.path_s + wire_s + filling_time(wire_s, np.array(self.full_s))

    def _wire_s(self, sizes_bytes: Floats) -> Floats:
        return wire_time(sizes_bytes / self.inside_bytes_per_s, sizes_bytes / self.fabric_bytes_per_s)


def estimate(
    priced: PricedAlgorithm, protocol: str, situation: JobSituation, calibration: Calibration, size_bytes: int
) -> Estimate:
    """Return the expected time of one algorithm and protocol for one size, with its range.

    Parameters
    ----------
    priced : PricedAlgorithm
    protocol : str
        ``ll``, ``ll128`` or ``simple``.
    situation : JobSituation
    calibration : Calibration
    size_bytes : int
        Size as nccl-tests prints it; 0 is allowed and moves nothing.

    Raises
    ------
    InputError
        If the calibration has no such protocol.
    """
    law = time_law(priced, protocol, situation, calibration)
    parts = law.parts(size_bytes)
    scale_up, network = calibration.scale_up_of(situation), calibration.network_of(situation)
    inside = set(calibration.scale_ups[scale_up].clusters)
    clusters, together = len(inside), None
    if network:
        between = set(calibration.networks[network].clusters)
        clusters, together = min(clusters, len(between)), len(inside & between)
    unknown_nic = bool(network) and not situation.nic_bytes_per_s > 0
    widened = clusters < 1 or unknown_nic
    line = priced.line_bytes_per_s if priced.line_bytes_per_s > 0 else math.inf
    least = size_bytes / line

    def times(sizes_bytes: Floats) -> Floats:
        return np.maximum(law.times(sizes_bytes), sizes_bytes / line)

    low, high, slow = range_of_time(times, calibration.ranges_of(situation.nodes), widened, size_bytes)
    return Estimate(
        algorithm=priced.algorithm,
        protocol=protocol,
        channels=priced.channels,
        time_s=max(parts.time_s, least),
        low_s=max(low, least),
        high_s=high,
        slow_s=slow,
        latency_s=parts.start_s + parts.path_s,
        wire_s=max(parts.wire_s + parts.filling_s, least),
        calibration=" ".join(filter(None, (calibration.name, scale_up, network, protocol))),
        clusters=clusters,
        widened=widened,
        together=together,
    )


def limit_rates_of(priced: PricedAlgorithm, situation: JobSituation) -> tuple[float, float]:
    """Return the rates that GPUs reach each other at and nodes reach each other at, in bytes of the message per second.

    PCIe is on the way to a NIC where GPUs have links of their own; its part of the limit inside then belongs to the NICs.
    With one rank a node all of it does: nothing else is inside.
    """
    inside, fabric = priced.inside_bytes_per_s, priced.fabric_bytes_per_s
    if situation.nodes > 1 and situation.node_ranks == 1:
        return math.inf, min(inside, fabric)
    own, bus = priced.shares.get("scale-up", 0.0), priced.shares.get("pcie", 0.0)
    if situation.scale_up in ("pcie", "none") or not own or not bus:
        return inside, fabric
    most = max(own, bus)
    return inside * most / own, min(fabric, inside * most / bus)


def protocol_bound(protocol: ProtocolConstants, op: str, situation: JobSituation) -> float:
    """Return the most bytes of the message per second that a protocol moves, infinite without a bound."""
    if protocol.most_bus_bytes_per_s is None or op not in BUS_FACTORS:
        return math.inf
    scale, depends = BUS_FACTORS[op]
    factor = scale * (situation.ranks - 1) / situation.ranks if depends else scale
    return protocol.most_bus_bytes_per_s[min(situation.nodes, 3) - 1] / factor if factor > 0 else math.inf


def time_parts(
    priced: PricedAlgorithm, protocol: str, situation: JobSituation, calibration: Calibration, size_bytes: int
) -> TimeParts:
    """Return the parts of the expected time; parameters as :func:`estimate` has them."""
    return time_law(priced, protocol, situation, calibration).parts(size_bytes)


def time_law(
    priced: PricedAlgorithm, protocol: str, situation: JobSituation, calibration: Calibration
) -> TimeLaw:
    """Return how the expected time depends on the size; parameters as :func:`estimate` has them."""
    if protocol not in calibration.protocols:
        raise InputError(
            f'protocol "{protocol}" is unknown to the calibration {calibration.name}; known: {", ".join(calibration.protocols)}'
        )
    scale_up = calibration.scale_ups[calibration.scale_up_of(situation)]
    name = calibration.network_of(situation)
    network = calibration.networks[name] if name else None
    multicast = priced.algorithm in MULTICAST
    carrier = calibration.protocols[protocol]
    steps = calibration.multicast if multicast else carrier
    share = scale_up.rate_share if not multicast else scale_up.multicast_share or scale_up.rate_share
    reached = calibration.algorithms.get(priced.algorithm, calibration.algorithms["ring"])
    carried = carrier.rate_share * calibration.operations.get(priced.op, 1.0)
    adjusted = _adjustment(calibration, situation, protocol)
    inside_rate, fabric_rate = limit_rates_of(priced, situation)
    reached_inside = reached.inside_share if situation.nodes < 2 else reached.several_nodes_share
    inside_rate *= min(share * reached_inside, 1.0) * carried * adjusted.rate_factor
    fabric_rate *= carried * adjusted.rate_factor
    if network is not None:
        fabric_rate *= network.rate_share
        fabric_rate *= reached.many_nodes_share if situation.nodes >= MANY_NODES else 1.0
    inside_hops, fabric_hops = _hops_s(priced, situation, steps, scale_up.step_factor, network)
    hops = inside_hops + fabric_hops
    filled = inside_hops + fabric_hops * (network.fill_factor if network is not None else 1.0)
    return TimeLaw(
        start_s=(steps.base_s * scale_up.base_factor + hops) * adjusted.latency_factor,
        path_s=priced.path_latency_s,
        inside_bytes_per_s=min(inside_rate, protocol_bound(carrier, priced.op, situation)),
        fabric_bytes_per_s=fabric_rate,
        full_s=steps.fill * filled * adjusted.latency_factor,
    )


def _hops_s(
    priced: PricedAlgorithm,
    situation: JobSituation,
    steps: ProtocolConstants,
    step_factor: float,
    network: NetworkClass | None,
) -> tuple[float, float]:
    # In switches that add, each GPU of the node has its own part of the message: so many rounds.
    inside_steps = situation.node_ranks if priced.algorithm in MULTICAST else priced.inside_steps
    inside = inside_steps * steps.inside_step_s * step_factor
    fabric_factor = network.step_factor if network is not None else 0.0
    return inside, priced.fabric_steps * steps.fabric_step_s * fabric_factor


def _adjustment(calibration: Calibration, situation: JobSituation, protocol: str) -> Adjustment:
    here = (calibration.scale_up_of(situation), calibration.network_of(situation), protocol)
    for one in calibration.adjustments:
        if (one.scale_up, one.network, one.protocol) == here:
            return one
    return Adjustment(
        scale_up=here[0],
        network=here[1],
        protocol=protocol,
        latency_factor=1.0,
        rate_factor=1.0,
        observations=1,
    )
