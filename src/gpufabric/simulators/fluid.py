"""Flows with bytes → times by fluid simulation: max-min fair rates, shared anew whenever a flow starts or ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.kernels.max_min import FEW_FLOWS, max_min_rates, owned
from gpufabric.records.flows import Flows, FlowTimes
from gpufabric.records.graph import Graph
from gpufabric.records.timed_flows import TimedFlows, TimedFlowTimes
from gpufabric.simulators.binding_links import binding_links

_DONE = 1e-9


def run(graph: Graph, flows: Flows, flow_bytes: NDArray[np.float64]) -> FlowTimes:
    """Return when each flow ends if all start together and share the links max-min fairly.

    Parameters
    ----------
    graph : Graph
    flows : Flows
    flow_bytes : float64 array, F

    Returns
    -------
    FlowTimes
        Rates and bottlenecks are those at the start, while all flows run.
    """
    if flows.count <= FEW_FLOWS:
        return _run_few(graph, flows, flow_bytes)
    none = np.empty(0, np.int64)
    at_once = Flows(flows.first, flows.link, flows.weight, np.zeros(flows.count))
    times = run_timed(graph, TimedFlows(at_once, flow_bytes, np.zeros(flows.count), none, none))
    rate = np.where(flow_bytes > 0, times.bytes_per_s, 0.0)
    return FlowTimes(times.sent_s, rate, times.bottleneck)


def run_timed(graph: Graph, timed: TimedFlows) -> TimedFlowTimes:
    """Return when each flow begins, is sent and arrives; whatever runs at one moment shares the links max-min fairly.

    Rates change only where they must when a flow starts or ends. Events of equal time are one event, so the order of the flows
    does not matter.

    Parameters
    ----------
    graph : Graph
    timed : TimedFlows

    Returns
    -------
    TimedFlowTimes

    Raises
    ------
    InputError
        If a size or start is negative or not a number, a flow named as predecessor does not exist, or flows wait for each other
        in a circle.

    Notes
    -----
    The first call in a process loads Numba and the compiled code, the first after an installation compiles it (some seconds).
    """
    from gpufabric.kernels.flow_events import FlowPlan, play_flows
    from gpufabric.kernels.shared_links import LinkSets

    flows, count = timed.flows, timed.flows.count
    _check(timed)
    order = np.argsort(timed.before, kind="stable")
    followers = np.bincount(timed.before, minlength=count)
    waits = np.bincount(timed.after, minlength=count)
    plan = FlowPlan(
        owned(timed.start_s, np.float64),
        owned(flows.latency_s, np.float64),
        np.concatenate([[0], np.cumsum(followers)]).astype(np.int64),
        timed.after[order].astype(np.int64),
        waits.astype(np.int64),
    )
    sets = LinkSets(
        owned(flows.first, np.int64),
        owned(flows.link, np.int32),
        owned(flows.weight, np.float64),
        np.full(count, np.inf),
    )
    events = play_flows(sets, owned(graph.bytes_per_s, np.float64), owned(timed.flow_bytes, np.float64), plan)
    blocked = events.phase == 0
    if blocked.any() and np.isfinite(events.arrived_s[~blocked]).all():
        raise InputError(
            f"flows: {int(blocked.sum()):,} of {count:,} wait for each other in a circle (the first is number "
            f"{int(blocked.argmax())}); allowed are predecessors that can start first; take one of the pairs out"
        )
    return TimedFlowTimes(
        events.begin_s, events.sent_s, events.arrived_s, events.bytes_per_s, events.bottleneck
    )


def _check(timed: TimedFlows) -> None:
    count = timed.flows.count
    for name, values in (
        ("size", timed.flow_bytes),
        ("start", timed.start_s),
        ("latency", timed.flows.latency_s),
    ):
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            raise InputError(
                f"flows: the {name} of number {int(wrong.argmax())} is {values[wrong.argmax()]:g}; "
                "allowed is 0 or more; give it one"
            )
    for named in (timed.before, timed.after):
        if len(named) and not (named.min() >= 0 and named.max() < count):
            raise InputError(
                f"flows: a pair names number {int(named.min() if named.min() < 0 else named.max())}; allowed is 0 to "
                f"{count - 1}; name one that exists"
            )


def _run_few(graph: Graph, flows: Flows, flow_bytes: NDArray[np.float64]) -> FlowTimes:
    """Do what ``run`` does for a few dozen flows, without loading a compiler."""
    finish = np.zeros(flows.count)
    left = flow_bytes.astype(np.float64)
    running = left > 0
    flows, number = binding_links(graph, flows)
    capacity = graph.bytes_per_s[number]
    first_rates, place = max_min_rates(flows.first, flows.link, flows.weight, capacity, running)
    rates, now = first_rates, 0.0
    while running.any():
        with np.errstate(divide="ignore"):
            need = np.where(running, left / np.where(running, rates, 1.0), np.inf)
        step = float(need.min())
        now += step
        ended = running & (need <= step * (1 + _DONE))
        finish[ended] = now
        running &= ~ended
        left = np.where(running, np.maximum(left - rates * step, 0.0), 0.0)
        if running.any():
            rates, _ = max_min_rates(flows.first, flows.link, flows.weight, capacity, running)
    bottleneck = np.append(number, -1)[place].astype(np.int32)
    return FlowTimes(finish, first_rates, bottleneck)
