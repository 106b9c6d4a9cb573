"""Predicted collectives → sentences: what to expect, what holds it back, and why it is above or below the line rate."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.records.results import CollectiveResult
from gpufabric.units import counted, format_gigabytes_per_s, format_message_bytes, format_time, percent_text

_SAME = 0.01
_FLAT = ("leaf-leaf", "server-server", "other")
_PER_GPU = ("all_to_all", "all_to_all_v", "send_recv")
_INSIDE = ("scale-up", "pcie")
RAIL_CHANGE = (
    "Its rings leave a node by another NIC than they entered it by, because its GPUs are linked one to one: where each NIC has a "
    "leaf of its own, every message between nodes goes over the spines, so oversubscription and hashing count in any order"
)
_WITH_CHANNELS = ("ring", "tree", "pat", "nvls_tree", "collnet_chain", "collnet_direct")


def collective_text(results: Sequence[CollectiveResult]) -> str:
    """Return paragraphs on the largest size of each order of ranks, and a last one on the smallest size.

    Parameters
    ----------
    results
        As :func:`gpufabric.jobs.collective.predict_collective` returns them, with shuffled ranks last.
    """
    first = results[0].rank_order
    asked = [r for r in results if r.rank_order == first]
    others = [r for r in results if r.rank_order != first]
    result = max(asked, key=lambda r: r.size_bytes)
    paragraphs = [
        _expectation(result),
        _choice(result),
        _time(result),
        _line_rate(result),
        _bottleneck(result),
        _limits(result),
        _range(result),
    ]
    if result.healthy_busbw_bytes_per_s is not None:
        paragraphs.append(_faults(result))
    if others:
        paragraphs.append(_shuffled(result, max(others, key=lambda r: r.size_bytes)))
    elif first.startswith("fabric") and result.nodes > 1:
        paragraphs.append("Shuffled ranks: within 5 % of this.")
    smallest = min(asked, key=lambda r: r.size_bytes)
    if smallest.size_bytes != result.size_bytes:
        paragraphs.append(_smallest(smallest))
    return "\n".join(paragraphs)


def _rate(bytes_per_s: float) -> str:
    return format_gigabytes_per_s(bytes_per_s)


def _algorithm(result: CollectiveResult) -> str:
    return f"{result.algorithm}/{result.protocol}"


def _factor(result: CollectiveResult) -> float:
    # Rounded, so that 1.875 reads the same whatever the last bits of the time.
    return round(result.busbw_bytes_per_s / result.algbw_bytes_per_s, 9)


def _expectation(result: CollectiveResult) -> str:
    where = f"{counted(result.gpus, 'GPU')} in {counted(result.nodes, 'node')}"
    low, high = (
        result.algbw_bytes_per_s * result.time_s / t for t in (result.time_high_s, result.time_low_s)
    )
    factor = _factor(result)
    text = (
        f"Expect {_rate(result.busbw_bytes_per_s)} of bus bandwidth: {result.op} of {format_message_bytes(result.size_bytes)} "
        f"over {where}, ranks in {result.rank_order} order, takes {format_time(result.time_s)}. "
        f"Four of five clusters like this lie between {_rate(low * factor)} and {_rate(high * factor)}"
    )
    if result.time_slow_s is None:
        return f"{text}."
    slow = result.size_bytes / result.time_slow_s * factor
    return f"{text}; below {_rate(slow)} lies a healthy one once in forty."


def _choice(result: CollectiveResult) -> str:
    chosen = (result.algorithm, result.protocol)
    unused = {name for name, _ in result.ruled_out}
    slower: dict[str, str] = {}
    sooner: list[str] = []
    for one in result.considered:
        if (one.algorithm, one.protocol) == chosen:
            continue
        text = f"{one.algorithm}/{one.protocol} ({format_time(one.time_s)})"
        if one.time_s >= result.time_s and one.algorithm not in unused | slower.keys():
            slower[one.algorithm] = text
        elif one.time_s < result.time_s * (1 - _SAME) and not one.settings:
            sooner.append(text)
    text = (
        f"Algorithm: {result.library} runs {_algorithm(result)}{channels_text(result)}, "
        "which it expects to end first of what it may run."
    )
    if result.changes_rail:
        text += f" {RAIL_CHANGE}."
    if sooner:
        text += (
            f" Here {' and '.join(sooner[:2])} would end sooner: the library sees neither switches nor the order of the ranks, "
            "so it does not know which links its messages share."
        )
    if slower:
        text += f" Slower: {', '.join(list(slower.values())[:5])}."
    if result.ruled_out:
        text += f" Not used: {'; '.join(f'{name} ({why})' for name, why in result.ruled_out)}."
    return text


def channels_text(result: CollectiveResult) -> str:
    """Return over how many channels a library runs, empty where their number says nothing."""
    # NVSwitches that add have no rings or trees to count, and exchanges have channels of their own for every peer.
    return f" over {counted(result.channels, 'channel')}" if result.algorithm in _WITH_CHANNELS else ""


def _time(result: CollectiveResult) -> str:
    latency, wire = result.latency_s, result.wire_s
    if latency is None or wire is None or not latency + wire:
        return "Time: its parts are not known."
    share = latency / (latency + wire)
    kind = "the number of steps matters more than bandwidth" if share > 0.5 else "bandwidth decides"
    return (
        f"Time: {format_time(latency)} do not depend on the size ({percent_text(share)}: start-up and steps), "
        f"{format_time(wire)} are bytes on the wire; {kind}."
    )


def _line_rate(result: CollectiveResult) -> str:
    line, wired = result.line_rate_bytes_per_s, result.wired_busbw_bytes_per_s
    if line is None or wired is None:
        return "Line rate: not known here."
    ratio = result.busbw_bytes_per_s / line
    word = "at" if abs(ratio - 1) < _SAME else "above" if ratio > 1 else "below"
    steps = [
        f"Line rate: {_line_name(result)} {_rate(line)} one way; expected is {percent_text(ratio)} of it, {word} the line rate."
    ]
    if _is_short(result):
        steps.append("The message is too short to fill the links: the steps take most of the time.")
        return " ".join(steps)
    steps.append(
        f"With every link at its nominal rate this algorithm would show {_rate(wired)} on this wiring"
        f" ({wired / line:.3g} × line rate){_why_wired(result, wired / line)}."
    )
    if result.wire_s:
        kept = result.size_bytes / result.wire_s * _factor(result)
        steps.append(
            f"The library gets {percent_text(kept / wired)} of that onto the wire ({_rate(kept)}: protocol, copies, the flags "
            f"of {result.protocol}, as measured on clusters like this), and latency leaves {_rate(result.busbw_bytes_per_s)}."
        )
    return " ".join(steps)


def _is_short(result: CollectiveResult) -> bool:
    return (result.latency_s or 0.0) > (result.wire_s or 0.0)


def _line_name(result: CollectiveResult) -> str:
    if result.nodes == 1:
        return "the links of a GPU to the others carry"
    return "one GPU's part of its node's NICs is" if result.op in _PER_GPU else "the NICs of one node carry"


def _why_wired(result: CollectiveResult, ratio: float) -> str:
    """Return why the algorithm at nominal rates is above or below the line rate."""
    tightest = _tightest(result)
    if result.nodes == 1:
        return _why_one_node(result, ratio)
    if tightest in _INSIDE and ratio < 1 - _SAME:
        return f", because the links inside the nodes ({tightest}) are full before the NICs are"
    if tightest not in ("nic", *_INSIDE) and ratio < 1 - _SAME:
        return f", because the {tightest} links are full before the NICs are: {_why_full(result)}"
    carried = _carried(result)
    whole = f"{_factor(result):.3g} S"
    if result.op in _PER_GPU:
        if ratio > 1 + _SAME:
            return ", because a part of the messages stays inside the nodes and never meets a NIC"
        return ", because messages meet at one NIC" if ratio < 1 - _SAME else ""
    if abs(ratio - 1) < _SAME:
        return f": the NICs of a node carry {whole} each way, just what bus bandwidth counts"
    if ratio < 1:
        return (
            f", because the fullest NIC of a node carries {carried / _factor(result):.3g} times its even part of the {whole} "
            "that bus bandwidth counts (S is the message); the others carry less"
        )
    inside = "GPUs or NVSwitches add inside a node first, so " if result.op == "all_reduce" else ""
    return (
        f", because {inside}the fullest NICs of a node carry {carried:.3g} S each way (S is the message), not the {whole} "
        "that bus bandwidth counts"
    )


def _why_one_node(result: CollectiveResult, ratio: float) -> str:
    if abs(ratio - 1) < _SAME:
        return ""
    if ratio > 1 and result.algorithm.startswith("nvls"):
        return (
            ", because the NVSwitches add and multicast: a GPU moves (1 + 1/n) S each way, "
            "not the 2 (n − 1)/n S that bus bandwidth counts"
        )
    return f", because of {result.bottleneck}"


def _why_full(result: CollectiveResult) -> str:
    shuffled = result.rank_order.startswith("shuffled")
    if "ecmp" in result.method:
        order = " of shuffled ranks" if shuffled else ""
        return f"hashed flows{order} meet on one link while others idle, and all GPUs wait for the fullest"
    if "static" in result.method or "opensm" in result.method:
        return "forwarding tables put several messages on one link while others idle, and all GPUs wait for the fullest"
    if _tightest(result) in _FLAT:
        return "more bytes cross the busiest of them than it carries at the rate of the NICs"
    if shuffled:
        return "shuffled neighbours lie anywhere, so nearly every message goes up and they share the uplinks"
    return "more bytes have to go up than the uplinks carry (oversubscription or missing links)"


def _tightest(result: CollectiveResult) -> str:
    return max(result.nominal_shares, key=lambda name: result.nominal_shares[name], default="nic")


def _carried(result: CollectiveResult) -> float:
    """Return the bytes each way over the fullest NICs, scaled to a node, per byte of the message."""
    line, wired = result.line_rate_bytes_per_s, result.wired_busbw_bytes_per_s
    assert line is not None
    assert wired is not None
    return result.nominal_shares.get("nic", 0.0) * line / wired * _factor(result)


def _bottleneck(result: CollectiveResult) -> str:
    shares = (
        "Of the time of the bytes, at the rates that the library reaches, each kind of link alone would need "
        f"{share_text(result)}."
    )
    return f"Held back by: {result.bottleneck}. {shares}"


def share_text(result: CollectiveResult) -> str:
    """Return, for example, ``nic 100 %, scale-up 44 %``, the fullest first."""
    ordered = sorted(result.shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {percent_text(share)}" for name, share in ordered) or "nothing"


def _limits(result: CollectiveResult) -> str:
    text = f"Ceiling: {ceilings_text(result)}"
    attainable = result.attainable_busbw_bytes_per_s
    if attainable is None:
        return f"{text}. Attainable: not searched for so many ranks."
    if result.attainable_settings:
        return f"{text}. Attainable: {_rate(attainable)} with {' '.join(result.attainable_settings)}."
    return f"{text}. Attainable: no setting is known to gain more than 1 %."


def ceilings_text(result: CollectiveResult) -> str:
    """Return both ceilings, each with what it comes from: without and, where it matters, with in-network reduction."""
    plain = result.plain_ceiling_busbw_bytes_per_s or result.ceiling_busbw_bytes_per_s
    text = f"{_rate(plain)}, whatever the algorithm ({result.plain_ceiling_name or result.ceiling_name})"
    added = result.in_network_ceiling_busbw_bytes_per_s
    if added is None:
        return text
    if added <= plain * (1 + _SAME):
        return f"{text}, with in-network reduction too"
    return f"{text}; with in-network reduction (SHARP) {_rate(added)} ({result.in_network_ceiling_name})"


def _range(result: CollectiveResult) -> str:
    if not result.clusters:
        return f"Range: wide, because no published measurement is of this kind ({result.calibration})."
    text = f"Range: from {counted(result.clusters, 'published cluster')} ({result.calibration})"
    together = result.clusters_together
    if together is None or together > 1:
        return f"{text}."
    has = "only one of them had" if together else "none of them had"
    return f"{text}; {has} both these links inside servers and this network, so how they go together is hardly measured."


def _faults(result: CollectiveResult) -> str:
    healthy = result.healthy_busbw_bytes_per_s
    assert healthy is not None
    return f"Faults: without them {_rate(healthy)}; {percent_text(result.busbw_bytes_per_s / healthy)} of it is left."


def _shuffled(result: CollectiveResult, shuffled: CollectiveResult) -> str:
    left = shuffled.busbw_bytes_per_s / result.busbw_bytes_per_s
    line, wired = shuffled.line_rate_bytes_per_s, shuffled.wired_busbw_bytes_per_s
    if _is_short(shuffled):
        further = (shuffled.latency_s or 0.0) > (result.latency_s or 0.0) * (1 + _SAME)
        why = (
            "; neighbours are further apart, so that a step crosses more switches and cable"
            if further
            else ""
        )
    else:
        why = _why_wired(shuffled, wired / line) if line is not None and wired is not None else ""
    busbw = f"{_rate(shuffled.busbw_bytes_per_s)}, {percent_text(left)} of it"
    return f"Shuffled ranks: {busbw}, held back by {shuffled.bottleneck}{why}."


def _smallest(result: CollectiveResult) -> str:
    return (
        f"At {format_message_bytes(result.size_bytes)}: {format_time(result.time_s)} by {_algorithm(result)}, "
        f"{_rate(result.busbw_bytes_per_s)}; held back by {result.bottleneck}."
    )
