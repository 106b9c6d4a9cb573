""":class:`Subnet` → the netlist that ``ibnetdiscover`` would print of it."""

from __future__ import annotations

import re

import numpy as np

from gpufabric.errors import InputError, printable
from gpufabric.records.subnet import Subnet

_NAME = re.compile(r"[ -!#-~]{1,63}")


def write_ibnetdiscover(subnet: Subnet, rates: tuple[str, ...]) -> str:
    """Return the netlist of *subnet*, switches first, every link at both its ends.

    Names of nodes are written as they are; ``host mlx5_0`` is read as an adapter of a host.

    Parameters
    ----------
    subnet
    rates
        Width and speed of each link, such as ``4xNDR``.

    Raises
    ------
    InputError
        If a name can't be a node description: up to 63 printable ASCII characters without quotes.
    """
    bad = next((name for name in subnet.names if not _NAME.fullmatch(name)), None)
    if bad is not None:
        raise InputError(
            f'ibnetdiscover netlist: a node can\'t be named "{printable(bad)}"; allowed are up to 63 printable ASCII characters '
            "without double quotes; rename the device"
        )
    guid = [f"{value:016x}" for value in subnet.guid.tolist()]
    key = [("S-" if switch else "H-") + text for switch, text in zip(subnet.is_switch, guid, strict=True)]
    node = subnet.link_node.ravel()
    order = np.lexsort((subnet.link_port.ravel(), node))
    first = np.searchsorted(node[order], np.arange(len(subnet) + 1))
    port = subnet.link_port.ravel()
    far, far_port = subnet.link_node[:, ::-1].ravel(), subnet.link_port[:, ::-1].ravel()
    lines = ["#", "# Topology file", "#"]
    for row in [*np.flatnonzero(subnet.is_switch).tolist(), *np.flatnonzero(~subnet.is_switch).tolist()]:
        switch = bool(subnet.is_switch[row])
        lines += ["", "vendid=0x2c9", "devid=0x0", f"sysimgguid=0x{guid[row]}"]
        lines.append(f"switchguid=0x{guid[row]}({guid[row]})" if switch else f"caguid=0x{guid[row]}")
        after = f" enhanced port 0 lid {row + 1} lmc 0" if switch else ""
        word = "Switch" if switch else "Ca"
        lines.append(f'{word}\t{int(subnet.ports[row])} "{key[row]}"\t\t# "{subnet.names[row]}"{after}')
        for at in order[first[row] : first[row + 1]].tolist():
            other, own_port = int(far[at]), int(port[at])
            own = "" if switch else f"({guid[row]}) "
            theirs = "" if subnet.is_switch[other] else f"({guid[other]}) "
            before = "" if switch else f" lid {row + 1} lmc 0"
            lines.append(
                f'[{own_port}]{own}\t"{key[other]}"[{int(far_port[at])}]{theirs}\t\t#{before} "{subnet.names[other]}" '
                f"lid {other + 1} {rates[at // 2]}"
            )
    return "\n".join(lines) + "\n"
