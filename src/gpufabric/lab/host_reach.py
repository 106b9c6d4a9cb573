"""Servers of a laid network → which of their addresses reach which: a TCP connection from each port to every other server's."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass

from gpufabric.errors import InputError
from gpufabric.lab.host_networks import LaidNetwork

_PORT = 5201
_WAIT_S = 2.0
_LISTEN = f"""import socket
s = socket.create_server(("", {_PORT}), backlog=128)
while True:
    s.accept()[0].close()
"""
_CONNECT = f"""import json, socket, sys
failed = []
for here, there in json.load(sys.stdin):
    for attempt in range(2):
        try:
            socket.create_connection((there, {_PORT}), {_WAIT_S}, (here, 0)).close()
            break
        except OSError as error:
            said = str(error)
    else:
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
        + "sleep 0.5\n"
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
