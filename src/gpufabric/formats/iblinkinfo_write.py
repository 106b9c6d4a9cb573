""":class:`Subnet` → what ``iblinkinfo`` would print of it, with ports that are down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpufabric.errors import InputError
from gpufabric.records.subnet import Subnet

#: What the tool prints of a lane: the signalling rate with its line coding, in Gb/s.
_LANE = {"SDR": "2.5", "EDR": "25.78125", "HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}


def write_iblinkinfo(subnet: Subnet, rates: Sequence[str], dark: Sequence[tuple[int, int]] = ()) -> str:
    """Return the text: adapters first, then switches, every link at both its ends.

    Parameters
    ----------
    subnet
    rates
        Width and speed of each link, such as ``4xNDR``.
    dark
        Node and port number of each port of a switch that is down.

    Raises
    ------
    InputError
        If a rate is none that the tool prints.
    """
    bad = next((rate for rate in rates if rate.partition("x")[2] not in _LANE), None)
    if bad is not None:
        raise InputError(f"iblinkinfo: a link can't run at {bad}; allowed speeds are {', '.join(_LANE)}")
    rows: list[list[tuple[int, str]]] = [[] for _ in range(len(subnet))]
    for link, (nodes, ports) in enumerate(
        zip(subnet.link_node.tolist(), subnet.link_port.tolist(), strict=True)
    ):
        width, _, speed = rates[link].partition("x")
        state = f"{width}X {_LANE[speed]:>15} Gbps Active/  LinkUp"
        for near, far in ((0, 1), (1, 0)):
            other = f'{nodes[far] + 1:7d} {ports[far]:4d}[  ] "{subnet.names[nodes[far]]}" ( )'
            rows[nodes[near]].append((ports[near], f"{ports[near]:4d}[  ] ==( {state})==> {other}"))
    for node, port in dark:
        rows[node].append(
            (port, f'{port:4d}[  ] ==(                Down/ Polling)==>             [  ] "" ( )')
        )
    lines = []
    is_switch = np.asarray(subnet.is_switch, np.bool_)
    for node in [*np.flatnonzero(~is_switch).tolist(), *np.flatnonzero(is_switch).tolist()]:
        guid = f"0x{int(subnet.guid[node]):016x}"
        lines.append(
            f"Switch: {guid} {subnet.names[node]}:" if is_switch[node] else f"CA: {subnet.names[node]}:"
        )
        own = "" if is_switch[node] else guid
        lines += [f"      {own:18} {node + 1:6d} {text}" for _, text in sorted(rows[node])]
    return "\n".join(lines) + "\n"
