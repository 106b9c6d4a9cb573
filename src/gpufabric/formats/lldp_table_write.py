"""Links as switches hear them → the text of SONiC's ``show lldp table`` on each, one after the other behind prompts."""

from __future__ import annotations

from collections.abc import Iterable

from gpufabric.errors import printable

_COLUMNS = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
Neighbour = tuple[str, str, str, bool]


def write_lldp_tables(neighbours: Iterable[tuple[str, list[Neighbour]]]) -> str:
    """Return the tables.

    Parameters
    ----------
    neighbours
        For each switch its name, and local port, device and port at the far end, and whether that is a switch, of each link.
    """
    return "\n".join(line for device, own in neighbours for line in _table(device, own)) + "\n"


def _table(device: str, own: list[Neighbour]) -> list[str]:
    rows = [_COLUMNS, *((near, far, port, "BR" if switch else "S", port) for near, far, port, switch in own)]
    safe = [tuple(printable(cell).replace(" ", "_") for cell in row) for row in rows]
    widths = [max(len(row[at]) for row in safe) for at in range(len(_COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in safe
    ]
    rule = "  ".join("-" * width for width in widths)
    prompt = f"{printable(device)}# show lldp table"
    return [
        prompt,
        "Capability codes: (R) Router, (B) Bridge, (O) Other",
        lines[0],
        rule,
        *lines[1:],
        rule,
        f"Total entries displayed:  {len(own)}",
        "",
    ]
