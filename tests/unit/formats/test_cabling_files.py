"""Cable lists, containerlab, Air: cabling as people plan it."""

import io
import math
import sys
import zipfile
from pathlib import Path

import openpyxl
import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cable_list import columns_of_options, read_cable_list
from gpufabric.formats.cabling_dot import read_cabling_dot
from gpufabric.formats.cabling_yaml import read_cabling_yaml
from gpufabric.records.cluster import UNKNOWN, DeviceKind
from gpufabric.records.labels import port_label
from gpufabric.report.arrow_files import write_table_csv
from gpufabric.report.cabling_plan import cabling_table
from gpufabric.units import parse_rate

CAPTURED = Path(__file__).parents[2] / "captured"


def pairs(found):
    cluster = found.cluster
    ends = zip(cluster.links.port_a.tolist(), cluster.links.port_b.tolist(), strict=True)
    return {frozenset((port_label(cluster, a), port_label(cluster, b))) for a, b in ends}


def joined(*ends):
    return {frozenset(end.split("=")) for end in ends}


@pytest.mark.parametrize(
    ("file", "links", "missed"),
    [
        (
            "two-row-header.csv",
            joined(
                "ochre-n1:osfp1/1=ochre-leaf1:1/1",
                "ochre-n1:osfp1/2=ochre-leaf2:1/1",
                "ochre-n2:osfp1/1=ochre-leaf1:1/2",
            ),
            1,
        ),
        ("netbox.csv", joined("ochre-n1:eth2=ochre-leaf1:swp1", "ochre-n2:eth2=ochre-leaf1:swp2"), 0),
        (
            "servers-and-switches.csv",
            joined("ochre-n1:p1=ochre-leaf1:swp1", "ochre-n2:p1=ochre-leaf1:swp2"),
            0,
        ),
        ("joined-ends.tsv", joined("ochre-n1:p1=ochre-leaf1:swp1", "ochre-leaf1:33=ochre-spine1:1"), 0),
    ],
)
def test_columns_are_guessed_from_the_words_of_headers(file, links, missed):
    found = read_cable_list(CAPTURED / "cable-list" / file)
    assert pairs(found) == links
    assert found.lines_not_understood == missed


def test_rates_are_read_with_their_unit():
    found = read_cable_list(CAPTURED / "cable-list" / "two-row-header.csv")
    assert set(found.cluster.links.bytes_per_s.tolist()) == {parse_rate("400 Gb/s")}
    bare = b"from device,from port,to device,to port,speed\na,1,b,2,400\n"
    assert math.isnan(read_cable_list(io.BytesIO(bare)).cluster.links.bytes_per_s[0])


@pytest.mark.parametrize("cell", ["nan", "inf", "1e999", "-400", "4O0", "0", "400 Mb", "4\u00a000"])
def test_a_cell_that_is_no_rate_is_a_finding_and_the_cable_stays(cell):
    text = f"from device,from port,to device,to port,speed_gbps\na,1,b,2,{cell}\nc,1,b,3,400\n"
    found = read_cable_list(io.BytesIO(text.encode()), "plan.csv")
    (finding,) = found.findings
    assert (finding.rule, finding.where) == ("found-lines", "plan.csv:2")
    assert "is no rate" in finding.message
    assert finding.message.isprintable()
    rates = found.cluster.links.bytes_per_s
    assert math.isnan(rates[0])
    assert rates[1] == parse_rate("400 Gb/s")


def test_many_cells_that_are_no_rate_are_counted():
    rows = "".join(f"n{i},1,leaf,{i},nan\n" for i in range(1, 51))
    text = f"from device,from port,to device,to port,speed_gbps\n{rows}"
    found = read_cable_list(io.BytesIO(text.encode()), "plan.csv")
    assert len(found.cluster.links) == 50
    assert len(found.findings) == 21
    assert "30 more" in found.findings[-1].message


def test_cells_without_a_unit_are_told_once():
    text = b"from device,from port,to device,to port,speed\na,1,b,2,400\nc,1,b,3,400\nd,1,b,4,n/a\n"
    (finding,) = read_cable_list(io.BytesIO(text), "plan.csv").findings
    assert finding.where == "plan.csv:2"
    assert "2 cells" in finding.message


def test_lists_that_were_joined():
    one = "from_device,from_port,to_device,to_port\nn1,p1,leaf,1\n"
    other = "to_device,to_port,from_device,from_port\nleaf,3,n3,p1\n"
    found = read_cable_list(
        io.BytesIO((one + one.replace("n1,p1,leaf,1", "n2,p1,leaf,2") + other).encode()), "j.csv"
    )
    assert pairs(found) == joined("n1:p1=leaf:1", "n2:p1=leaf:2", "n3:p1=leaf:3")
    assert [f.where for f in found.findings] == ["j.csv:3", "j.csv:5"]


def test_a_header_of_two_rows_that_stands_again():
    text = (CAPTURED / "cable-list" / "two-row-header.csv").read_bytes()
    alone, twice = read_cable_list(io.BytesIO(text)), read_cable_list(io.BytesIO(text + text))
    assert twice.cluster.devices.names == alone.cluster.devices.names


def test_columns_can_be_told():
    text = b"alpha,beta,gamma,delta\nn1,p1,leaf,5\n"
    told = columns_of_options(["a_device=Alpha", "a_port=beta", "b_device=gamma", "b_port=delta"])
    assert pairs(read_cable_list(io.BytesIO(text), columns=told)) == joined("n1:p1=leaf:5")


@pytest.mark.parametrize("told", [{"a_device": "omega"}, {"a_devise": "alpha"}])
def test_a_column_that_is_not_there_is_refused_in_one_line(told):
    with pytest.raises(InputError, match="column") as caught:
        read_cable_list(io.BytesIO(b"alpha,beta\n1,2\n"), "plan.csv", told)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="write a field and a title"):
        columns_of_options(["a_device"])


def test_a_port_that_is_used_twice_is_an_error():
    text = b"from device,from port,to device,to port\na,1,b,2\nc,1,b,2\n"
    found = read_cable_list(io.BytesIO(text), "plan.csv")
    assert [(f.rule, f.severity, f.where) for f in found.findings] == [
        ("found-ends-disagree", "error", "plan.csv:3")
    ]


def test_our_own_cabling_plan_is_read_back(wire, tmp_path):
    cluster, _ = wire("dgx-h100", 4, "leaf-spine", "qm9790")
    write_table_csv(cabling_table(cluster), tmp_path / "plan.csv")
    found = read_cable_list(tmp_path / "plan.csv")
    expected = {
        frozenset((port_label(cluster, int(a)), port_label(cluster, int(b))))
        for a, b in zip(cluster.links.port_a, cluster.links.port_b, strict=True)
    }
    assert pairs(found) == expected
    assert found.findings == ()
    assert set(found.cluster.links.bytes_per_s.tolist()) == set(cluster.links.bytes_per_s.tolist())


def test_a_workbook_without_openpyxl_says_what_to_do(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "plan.xlsx", "w") as archive:
        archive.writestr("x", "")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"install gpufabric\[xlsx\], or save the sheet as CSV"):
        read_cable_list(tmp_path / "plan.xlsx")


def test_a_workbook_is_read_sheet_by_sheet(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    cables = book.create_sheet("cables")
    for row in (["From device", "From port", "To device", "To port"], ["n1", 1.0, "leaf", 5], [None] * 4):
        cables.append(row)
    book.save(tmp_path / "plan.xlsx")
    assert pairs(read_cable_list(tmp_path / "plan.xlsx")) == joined("n1:1=leaf:5")


def test_containerlab():
    found = read_cabling_yaml(CAPTURED / "containerlab" / "three-racks.clab.yml")
    assert pairs(found) == joined(
        "umber-leaf1:e1-49=umber-spine1:e1-1",
        "umber-leaf1:e1-50=umber-spine1:e1-2",
        "umber-c1:eth1=umber-leaf1:e1-1",
    )
    assert found.left_out == (("link to the outside", 1),)
    assert found.lines_not_understood == 1
    assert found.cluster.devices.kind.tolist() == [DeviceKind.SWITCH, DeviceKind.SWITCH, UNKNOWN]


def test_air_json_and_dot():
    found = read_cabling_yaml(CAPTURED / "air" / "two-switches.json", "air.json")
    assert pairs(found) == joined("sienna-leaf1:swp1=sienna-n1:eth1")
    assert found.cluster.links.where == ("air.json:11",)
    found = read_cabling_dot(CAPTURED / "air" / "two-switches.dot")
    assert pairs(found) == joined("sienna-leaf1:swp49=sienna-spine1:swp1", "sienna-leaf1:swp1=sienna-n1:eth1")
    assert found.cluster.devices.kind.tolist() == [DeviceKind.SWITCH, DeviceKind.SWITCH, DeviceKind.SERVER]
