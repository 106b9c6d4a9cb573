"""Servers of a laid network → which of their addresses reach which: a TCP connection from each port to every other server's."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass

from gpufabric.errors import InputError
from gpufabric.lab.host_networks import LaidNetwork

_PORT = 5201
_WAIT_S = 3.0  # a lost first packet is sent again after one second
_HOST_S = 20.0
_LISTEN = f"""import socket
s = socket.create_server(("", {_PORT}), backlog=128)
while True:
    s.accept()[0].close()
"""
# A server that refuses has not begun to listen; one that says nothing is not waited for again and again.
_CONNECT = f"""import json, socket, sys, time
failed, end = [], time.monotonic() + {_HOST_S}
for here, there in json.load(sys.stdin):
    said = "not tried: too many others did not connect"
    while time.monotonic() < end:
        try:
            socket.create_connection((there, {_PORT}), {_WAIT_S}, (here, 0)).close()
            said = ""
            break
        except ConnectionRefusedError as error:
            said = str(error)
            time.sleep(0.05)
        except OSError as error:
            said = str(error)
            break
    if said:
        failed.append([here, there, said])
print(json.dumps(failed))
"""


@dataclass(frozen=True, slots=True)
class Reach:
    """How many pairs of addresses were tried, and those that did not connect: from, to, why."""

    pairs: int
    failed: tuple[tuple[str, str, str], ...]


def try_all_pairs(net: LaidNetwork, limit_s: float = 60.0) -> Reach:
    """Connect from every port of every server to every port of every other server.

    Raises
    ------
    InputError
        If the trying itself fails or takes longer than *limit_s*.
    """
    python, listener = shlex.quote(sys.executable), shlex.quote(_LISTEN)
    net.machine.shell(
        "".join(
            f"ip netns exec {name} {python} -I -c {listener} </dev/null >/dev/null 2>&1 &\n"
            for name in net.hosts
        )
    )
    pairs, failed = 0, []
    for name, host in net.hosts.items():
        wanted = [
            [here.address, there.address]
            for other, peer in net.hosts.items()
            if other != name
            for here in host.interfaces
            for there in peer.interfaces
        ]
        pairs += len(wanted)
        answer = net.run(name, [sys.executable, "-I", "-c", _CONNECT], json.dumps(wanted), limit_s)
        try:
            failed += [(str(here), str(there), str(why)) for here, there, why in json.loads(answer)]
        except (ValueError, TypeError):
            raise InputError(f"{name}: its test of connections printed no JSON; run it again") from None
    return Reach(pairs, tuple(failed))
