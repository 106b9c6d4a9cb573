"""Ports of a switch → SONiC's tables for lossless RoCE: classes, queues, PFC, ECN.

Tables and their limits as in SONiC's YANG models, https://github.com/sonic-net/sonic-buildimage/tree/master/src/sonic-yang-models
(read 2026-12); the values are those of :mod:`gpufabric.exports.roce_classes`. How much buffer PFC needs, SONiC works out from the
speed of a port and the length of its cable (``CABLE_LENGTH``), with what the switch's vendor put into its image.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpufabric.exports.roce_classes import (
    CNP_PRIORITY,
    ECN_LEAST_BYTES,
    ECN_MOST_BYTES,
    ECN_MOST_PERCENT,
    PRIORITIES,
    ROCE_PRIORITY,
    ROCE_SHARE_PERCENT,
    dscp_classes,
)

MAP, LENGTHS = "ROCE", "FABRIC"
_LOSSLESS, _NOTIFICATIONS, _OTHER = "ROCE_LOSSLESS", "ROCE_CNP", "OTHER"
_COLOURS = ("green", "yellow", "red")


def qos_tables(ports: Sequence[str]) -> dict[str, Any]:
    """Return the tables that classify, queue, pause and mark on the ports of one switch.

    Parameters
    ----------
    ports
        Names of its interfaces.
    """
    same = {str(number): str(number) for number in range(PRIORITIES)}
    groups = {str(number): str(number if number == ROCE_PRIORITY else 0) for number in range(PRIORITIES)}
    return {
        "DSCP_TO_TC_MAP": {MAP: {str(dscp): str(tc) for dscp, tc in dscp_classes().items()}},
        "TC_TO_QUEUE_MAP": {MAP: same},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: groups},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: same},
        "SCHEDULER": {
            _LOSSLESS: {"type": "DWRR", "weight": str(ROCE_SHARE_PERCENT)},
            _OTHER: {"type": "DWRR", "weight": str(100 - ROCE_SHARE_PERCENT)},
            _NOTIFICATIONS: {"type": "STRICT"},
        },
        "WRED_PROFILE": {_LOSSLESS: _marking()},
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": MAP}} | {port: _port_maps() for port in ports},
        "QUEUE": _queues(ports),
    }


def cable_lengths(lengths_m: Mapping[str, float]) -> dict[str, Any]:
    """Return the table of cable lengths by port, in whole metres, rounded up; nothing where one is not known.

    SONiC takes the table of a switch as a whole, and a missing length would leave a port without room for what is on its cable.
    """
    if not lengths_m or any(math.isnan(length) for length in lengths_m.values()):
        return {}
    return {"CABLE_LENGTH": {LENGTHS: {port: f"{math.ceil(length)}m" for port, length in lengths_m.items()}}}


def _marking() -> dict[str, str]:
    profile = {"ecn": "ecn_all"}
    for colour in _COLOURS:
        profile[f"wred_{colour}_enable"] = "true"
        profile[f"{colour}_min_threshold"] = str(ECN_LEAST_BYTES)
        profile[f"{colour}_max_threshold"] = str(ECN_MOST_BYTES)
        profile[f"{colour}_drop_probability"] = str(ECN_MOST_PERCENT)
    return profile


def _port_maps() -> dict[str, str]:
    return {
        "dscp_to_tc_map": MAP,
        "tc_to_queue_map": MAP,
        "tc_to_pg_map": MAP,
        "pfc_to_queue_map": MAP,
        "pfc_enable": str(ROCE_PRIORITY),
        "pfcwd_sw_enable": str(ROCE_PRIORITY),
    }


def _queues(ports: Sequence[str]) -> dict[str, dict[str, str]]:
    found = {}
    for port in ports:
        for queue in range(PRIORITIES):
            if queue == ROCE_PRIORITY:
                found[f"{port}|{queue}"] = {"scheduler": _LOSSLESS, "wred_profile": _LOSSLESS}
            else:
                found[f"{port}|{queue}"] = {"scheduler": _NOTIFICATIONS if queue == CNP_PRIORITY else _OTHER}
    return found
