"""Graphs and drawings load in the programs that they are for, or hold what was designed."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import pydot
import pytest
from defusedxml import ElementTree

from gpufabric.errors import InputError
from gpufabric.exports.drawn_groups import drawn_groups


def test_networkx_finds_every_device_and_link_with_its_attributes(small, tmp_path, written, designed_pairs):
    path = tmp_path / "fabric.graphml"
    path.write_text(written("graphml", small)["fabric.graphml"], encoding="utf-8")
    graph = nx.read_graphml(path, force_multigraph=True)
    assert sorted(tuple(sorted(edge[:2])) for edge in graph.edges) == designed_pairs(small)
    assert graph.nodes["leaf-su02-r3"] == {
        "kind": "switch", "role": "leaf", "part": "qm9790", "fabric": "compute", "unit": 2, "rail": 3,
        "rack": graph.nodes["leaf-su02-r3"]["rack"],
    }  # fmt: skip
    edge = next(iter(graph.get_edge_data("su01-srv01", "leaf-su01-r1").values()))
    assert edge["bytes_per_s"] == 50e9
    assert edge["port_b"] == "1/1"
    assert edge["length_m"] > 0


@pytest.mark.slow
# pydot 4.0 calls pyparsing by names that pyparsing 3.3 wants to drop.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pydot_reads_the_dot_file(small, written, joined_pairs, designed_pairs):
    text = written("dot", small)["fabric.dot"]
    assert joined_pairs(text) == designed_pairs(small)
    (graph,) = pydot.graph_from_dot_data(text)
    assert len(graph.get_edges()) == len(designed_pairs(small))
    ends = [(edge.get_source(), edge.get_destination()) for edge in graph.get_edges()]
    plain = [[end.replace('"', "").split(":")[0] for end in pair] for pair in ends]
    assert sorted(tuple(sorted(pair)) for pair in plain) == designed_pairs(small)


def test_a_small_fabric_is_drawn_device_by_device(small):
    drawn = drawn_groups(small, 400)
    assert not drawn.folded
    assert Counter(drawn.tiers)[0] == 6
    assert "su01-srv01" in drawn.labels


def test_equal_devices_are_folded_until_the_lines_fit(small):
    drawn = drawn_groups(replace(small, options=(("detail", "groups"),)), 400)
    assert drawn.folded
    assert "2 × server (dgx-h100), unit 1" in drawn.labels
    few = drawn_groups(small, 2)
    assert few.folded
    assert [label for label in few.labels if "server" in label] == ["6 × server (dgx-h100)"]
    assert sorted(text for _, _, text in few.lines)[0].endswith("400 Gb/s")
    assert len(few.lines) == 2


def test_every_device_is_drawn_when_asked_for(small):
    assert not drawn_groups(replace(small, options=(("detail", "devices"),)), 2).folded


def test_mermaid_names_boxes_once_and_joins_known_ones(small, written):
    lines = written("mermaid", small)["fabric.mmd"].splitlines()
    assert lines[0] == "flowchart BT"
    boxes = {line.split("[")[0].strip() for line in lines if '["' in line}
    joins = [line.split() for line in lines if "---|" in line]
    assert joins
    assert all(words[0] in boxes and words[-1] in boxes for words in joins)


def test_drawio_cells_hang_together_and_do_not_overlap(small, written):
    root = ElementTree.fromstring(written("drawio", small)["fabric.drawio"])
    cells = {cell.get("id"): cell for cell in root.iter("mxCell")}
    places = []
    for cell in cells.values():
        assert cell.get("id") in ("0", "1") or cell.get("parent") == "1"
        if cell.get("edge"):
            assert {cell.get("source"), cell.get("target")} <= set(cells)
        if cell.get("vertex"):
            box = cell.find("mxGeometry")
            places.append((box.get("x"), box.get("y")))
    assert len(set(places)) == len(places) == len(small.cluster.devices)


def test_names_with_quotes_are_refused_by_dot_and_escaped_in_xml(as_found, written, tmp_path):
    names = ('a"<b>&', *as_found.cluster.devices.names[1:])
    cluster = replace(as_found.cluster, devices=replace(as_found.cluster.devices, names=names))
    strange = replace(as_found, cluster=cluster)
    with pytest.raises(InputError, match="can't be named like this"):
        written("dot", strange)
    path = tmp_path / "fabric.graphml"
    path.write_text(written("graphml", strange)["fabric.graphml"], encoding="utf-8")
    assert 'a"<b>&' in nx.read_graphml(path).nodes
    assert "#quot;#lt;b#gt;&" in written("mermaid", strange)["fabric.mmd"]


def test_a_fabric_as_found_has_no_attributes_that_nobody_told(as_found, written, tmp_path):
    path = tmp_path / "fabric.graphml"
    path.write_text(written("graphml", as_found)["fabric.graphml"], encoding="utf-8")
    graph = nx.read_graphml(path)
    assert graph.nodes["su01-srv01"] == {"kind": "server", "role": "server", "fabric": "found"}
