"""Port names that the design does not know are learned from the wiring, and a swap is found all the same."""

import io
import re

import numpy as np
import pytest

from gpufabric.formats.cable_list import read_cable_list
from gpufabric.recognition.diagnose_cabling import diagnose_cabling
from gpufabric.recognition.match_fabric import match_fabric
from gpufabric.records.labels import port_label
from gpufabric.records.port_numbers import port_numbers


def own_names(design):
    """Return rows (device, port, device, port) with names of ports as SONiC and Linux give them."""
    numbers = port_numbers(design)
    ranks = {}
    rows = []
    for a, b in zip(design.links.port_a.tolist(), design.links.port_b.tolist(), strict=True):
        row = []
        for port in (a, b):
            device = port_label(design, port).split(":")[0]
            if design.devices.kind[design.ports.device[port]] == 1:
                row += [device, f"Ethernet{8 * int(numbers[port])}"]
            else:
                rank = ranks[device] = ranks.get(device, -1) + 1
                row += [device, f"enp{(24, 42, 58, 77, 156, 170, 188, 206)[rank % 8]}s0"]
        rows.append(row)
    return rows


def diagnose(design, rows):
    text = "a_device,a_port,b_device,b_port\n" + "".join(",".join(row) + "\n" for row in rows)
    found = read_cable_list(io.BytesIO(text.encode()), "plan.csv")
    match = match_fabric(design, found)
    return match, diagnose_cabling(design, found, match)


@pytest.mark.parametrize("topology", ["leaf-spine", "rail-optimized"])
def test_names_of_ports_are_learned(wire, topology):
    design, _ = wire("dgx-h100", 16, topology, "sn5600")
    rows = own_names(design)
    match, faults = diagnose(design, rows)
    assert faults == []
    assert (match.port >= 0).all()
    assert (match.certainty == 1).all()
    one, other = 3, next(n for n, row in enumerate(rows) if row[0] != rows[3][0] and row[2] != rows[3][2])
    rows[one][2:], rows[other][2:] = rows[other][2:], rows[one][2:]
    _, faults = diagnose(design, rows)
    assert [fault.kind for fault in faults] == ["swapped-pair"]
    assert re.search(r"plan\.csv:\d+", faults[0].where)
    assert np.array_equal(sorted(faults[0].links), sorted((one, other)))
