"""Links of namespaces → the rate at which they carry, and silence: queues of Linux' traffic control (tc-tbf(8), tc-pfifo(8))."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.lab.isolated_machine import IsolatedMachine
from gpufabric.lab.namespaces import MTU

_BURST_S = 1e-3
_BURST_PACKETS = 4
_WAIT_MS = 50


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """An interface in a namespace, and the rate that it sends at, bytes/s."""

    device: str
    interface: str
    bytes_per_s: float


def shape(machine: IsolatedMachine, ends: Iterable[LinkEnd]) -> None:
    """Let each end send at its rate: a token bucket of a millisecond or a few packets, and a queue of 50 ms before it."""
    machine.shell("".join(f"{_queue(end)} {_bucket(end.bytes_per_s)}\n" for end in ends))


def silence(machine: IsolatedMachine, ends: Iterable[LinkEnd]) -> None:
    """Drop all that the ends send while their carrier stays: a queue without room. :func:`shape` ends it."""
    machine.shell("".join(f"{_queue(end)} pfifo limit 0\n" for end in ends))


def set_carrier(machine: IsolatedMachine, end: LinkEnd, up: bool) -> None:
    """Take an interface down, at which the other end of its link loses the carrier, or up again."""
    machine.run(["ip", "-n", end.device, "link", "set", "dev", end.interface, "up" if up else "down"])


def _queue(end: LinkEnd) -> str:
    return f"tc -n {end.device} qdisc replace dev {end.interface} root"


def _bucket(bytes_per_s: float) -> str:
    rate = max(1, round(bytes_per_s))
    burst = max(_BURST_PACKETS * MTU, round(rate * _BURST_S))
    # For tc, bps are bytes per second.
    return f"tbf rate {rate}bps burst {burst} latency {_WAIT_MS}ms"
