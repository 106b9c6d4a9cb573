"""What was cabled otherwise comes out as the mistakes that were made, and nothing else."""

import numpy as np
import pytest

from gpufabric.records.cluster import DeviceKind
from gpufabric.records.fabric_match import MatchedBy


def kinds(faults):
    return sorted(fault.kind for fault in faults)


def server_rows(built, which, count=8):
    """Rows of the links of one server: lay_subnet has end ports first, in order of devices."""
    ports = range(which * count, which * count + count)
    rows = [row for row, (a, b) in enumerate(built.ends) if a[0] in ports or b[0] in ports]
    assert len(rows) == count
    return rows


def swap_upper(built, one, other):
    (a, b), (c, d) = built.ends[one], built.ends[other]
    built.ends[one], built.ends[other] = (a, d), (c, b)


@pytest.mark.parametrize("topology", ["rail-optimized", "leaf-spine"])
@pytest.mark.parametrize("anonymous", [False, True])
def test_a_fabric_as_designed_has_no_faults(built, topology, anonymous):
    match, faults = built(topology=topology, anonymous=anonymous).diagnose()
    assert faults == []
    assert (match.device >= 0).all()
    assert (match.port >= 0).all()
    assert match.in_scope.all()
    assert (match.how == (MatchedBy.WIRING if anonymous else MatchedBy.NAME)).all()


@pytest.mark.parametrize("anonymous", [False, True])
def test_one_swapped_pair_is_one_fault(built, anonymous):
    fabric = built(anonymous=anonymous)
    leaf_spine = [
        row for row, (a, b) in enumerate(fabric.ends) if fabric.subnet.is_switch[[a[0], b[0]]].all()
    ]
    by_leaf = {}
    for row in leaf_spine:
        by_leaf.setdefault(fabric.ends[row][0][0], []).append(row)
    one, *rest = by_leaf[min(by_leaf)]
    other = next(row for row in rest if fabric.ends[row][1][0] != fabric.ends[one][1][0])
    swap_upper(fabric, one, other)
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["swapped-pair"]
    assert sorted(faults[0].links) == sorted(int(fabric.links[row]) for row in (one, other))
    assert len(faults[0].moves) == 2
    assert faults[0].where.startswith("built.txt:")


def test_two_servers_on_one_leaf_swapped(built):
    fabric = built()
    swap_upper(fabric, server_rows(fabric, 1)[0], server_rows(fabric, 2)[0])
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["swapped-pair"]
    assert "srv02" in faults[0].message
    assert "srv03" in faults[0].message


def test_a_server_whose_rails_are_shifted_is_one_fault(built):
    fabric = built()
    rows = server_rows(fabric, 3)
    uppers = [fabric.ends[row][1] for row in rows]
    for row, upper in zip(rows, uppers[1:] + uppers[:1], strict=True):
        fabric.ends[row] = (fabric.ends[row][0], upper)
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["shifted-server"]
    assert len(faults[0].links) == 8
    assert "srv04" in faults[0].message


def test_two_servers_that_are_exchanged_are_one_fault(built):
    fabric = built()
    for one, other in zip(server_rows(fabric, 1), server_rows(fabric, 9), strict=True):
        swap_upper(fabric, one, other)
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["exchanged-devices"]


def test_two_leaves_that_are_exchanged_are_one_fault(built):
    fabric = built()
    switches = np.flatnonzero(fabric.subnet.is_switch)
    leaves = sorted(
        {b[0] for a, b in fabric.ends if not fabric.subnet.is_switch[a[0]]} & set(switches.tolist())
    )
    one, other = leaves[0], leaves[1]
    turn = {one: other, other: one}
    fabric.ends = [tuple((turn.get(node, node), port) for node, port in ends) for ends in fabric.ends]
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["exchanged-devices"]


def test_missing_link_wrong_port_and_wrong_rate_at_once(built):
    fabric = built()
    free = 60
    moved, slow, gone = server_rows(fabric, 2)[1], server_rows(fabric, 5)[2], server_rows(fabric, 7)[3]
    (a, b) = fabric.ends[moved]
    fabric.ends[moved] = (a, (b[0], free))
    fabric.rates[slow] = "4xHDR"
    fabric.unplug(gone)
    _, faults = fabric.diagnose()
    assert kinds(faults) == ["missing-link", "wrong-port", "wrong-rate"]
    wrong = next(fault for fault in faults if fault.kind == "wrong-port")
    assert wrong.found.endswith(":30/2")
    assert len(wrong.moves) == 1


def test_a_server_that_is_off_is_one_fault(built):
    fabric = built()
    fabric.unplug(*server_rows(fabric, 6))
    text = fabric.text()
    assert "srv07" in text  # its adapters are listed without links
    _, faults = fabric.diagnose()
    assert set(kinds(faults)) <= {"missing-device", "missing-link"}


def test_a_foreign_server_is_one_fault(built):
    fabric = built()
    rows = server_rows(fabric, 4)
    names = list(fabric.subnet.names)
    for row in rows:
        node = fabric.ends[row][0][0]
        names[node] = names[node].replace(names[node].split()[0], "lab-visitor")
    fabric.subnet = type(fabric.subnet)(
        tuple(names),
        fabric.subnet.is_switch,
        fabric.subnet.ports,
        fabric.subnet.guid,
        fabric.subnet.link_node,
        fabric.subnet.link_port,
    )
    match, faults = fabric.diagnose()
    # Its wiring is that of the missing server: it is taken for it, as a server that was renamed.
    assert faults == []
    row = fabric.found().cluster.devices.names.index("lab-visitor")
    assert match.how[row] == MatchedBy.WIRING
    assert 0 < match.certainty[row] <= 1


def test_a_switch_that_nobody_planned_is_foreign(built):
    fabric = built()
    text = fabric.text() + (
        '\nvendid=0x2c9\ndevid=0x0\nsysimgguid=0xabc\nswitchguid=0xabc(abc)\nSwitch\t65 "S-abc"\t\t# "MF0;stranger:X/U1" '
        'enhanced port 0 lid 9 lmc 0\n[1]\t"S-0000000000200000"[61]\t\t# "x" lid 3 4xNDR\n'
    )
    import io

    from gpufabric.formats.ibnetdiscover import read_ibnetdiscover
    from gpufabric.recognition.diagnose_cabling import diagnose_cabling
    from gpufabric.recognition.match_fabric import match_fabric

    found = read_ibnetdiscover(io.BytesIO(text.encode()), "b.txt")
    match = match_fabric(fabric.design, found)
    faults = diagnose_cabling(fabric.design, found, match)
    assert kinds(faults) == ["foreign-device"]
    assert found.cluster.devices.kind[match.device < 0].tolist() == [DeviceKind.SWITCH]


@pytest.mark.parametrize(
    ("rate", "why", "expected", "found"),
    [
        ("2xNDR", "width 2x instead of 4x", "400 Gb/s (4xNDR)", "200 Gb/s (2xNDR)"),
        ("1xNDR", "width 1x instead of 4x", "400 Gb/s (4xNDR)", "100 Gb/s (1xNDR)"),
        ("4xEDR", "speed EDR instead of NDR", "400 Gb/s (4xNDR)", "100 Gb/s (4xEDR)"),
        ("1xEDR", "(1xEDR)", "400 Gb/s", "25 Gb/s"),
    ],
)
def test_a_slow_link_says_whether_lanes_or_their_speed_are_wrong(built, rate, why, expected, found):
    fabric = built()
    fabric.rates[5] = rate
    _, (fault,) = fabric.diagnose()
    assert why in fault.message
    assert (fault.expected, fault.found) == (expected, found)
