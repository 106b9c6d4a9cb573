"""InfraGraph: what is written reads back as designed, and the package of InfraGraph takes it."""

from collections import Counter

import pytest

from gpufabric.exports import EXPORTS
from gpufabric.formats import infragraph_json

RACKS = """
name: racks
servers: {model: gb200-nvl72-tray, count: 36}
fabrics:
  - {name: compute, topology: rail-optimized, switch: qm9790}
"""


@pytest.fixture(scope="module")
def infragraph_of(tmp_path_factory):
    """Return a function that writes the infrastructure of a source and returns its path."""

    def write(source):
        folder = tmp_path_factory.mktemp("infragraph")
        for file in EXPORTS["infragraph"].write(source):
            (folder / file.path).write_bytes(b"".join(file.pieces))
        return folder / "infragraph.json"

    return write


def test_links_read_back(small, infragraph_of):
    graph = infragraph_json.read(infragraph_of(small))
    links = small.cluster.links
    assert len(graph.edges) == len(links)
    assert Counter(edge.bytes_per_s for edge in graph.edges) == Counter(links.bytes_per_s.tolist())
    assert all(100e-9 < edge.latency_s < 3e-6 for edge in graph.edges)
    roles = Counter(small.cluster.devices.role.tolist())
    counts = {name: count for name, (_, count) in graph.instances.items()}
    assert (counts["server"], counts["leaf"], counts["spine"]) == (roles[0], roles[1], roles[2])


def test_every_port_has_one_link(small, infragraph_of):
    graph = infragraph_json.read(infragraph_of(small))
    ends = Counter(end for edge in graph.edges for end in edge.ends)
    assert set(ends.values()) == {1}


def test_the_inside_of_a_server(small, infragraph_of):
    graph = infragraph_json.read(infragraph_of(small))
    assert graph.components["dgx-h100"] == {
        "gpu": 8,
        "cpu": 2,
        "pcie": 10,
        "nic": 12,
        "port": 12,
        "scale-up-switch": 4,
    }
    # PCIe switches to CPUs, GPUs and NICs to PCIe switches, NICs to ports, GPUs to four NVSwitches.
    assert graph.inner_edges["dgx-h100"] == 10 + 8 + 12 + 12 + 8 * 4


def test_units_are_said_and_right(small, infragraph_of):
    text = infragraph_of(small).read_text()
    assert '"gigabits_per_second": 400.0' in text
    assert '"gigabytes_per_second": 112.5' in text  # NVLink of a GPU, a quarter to each of four switches
    assert '"gigabytes_per_second": 400' not in text


def test_racks_share_their_scale_up_switch(source_of, infragraph_of):
    graph = infragraph_json.read(infragraph_of(source_of(RACKS)))
    assert graph.instances["scale-up-switch"] == ("scale-up-domain", 2)
    assert sum(edge.ends[0][2] == "gpu" for edge in graph.edges) == 36 * 4


def test_the_table_names_every_device(small, infragraph_of):
    path = infragraph_of(small)
    rows = (path.parent / "instances.csv").read_text().splitlines()
    graph = infragraph_json.read(path)
    assert len(rows) == 1 + sum(count for _, count in graph.instances.values())
    assert rows[1] == "server,0,su01-srv01"


@pytest.mark.real
@pytest.mark.filterwarnings("default")
def test_the_service_of_infragraph_takes_it(small, source_of, infragraph_of):
    service = pytest.importorskip(
        "infragraph.infragraph_service", reason="the package infragraph is not installed"
    )
    for source in (small, source_of(RACKS)):
        graph = service.InfraGraphService()
        graph.set_graph(infragraph_of(source).read_text())
        assert len(graph.get_endpoints("type", "xpu")) == len(source.cluster.gpus)
        assert all(degree > 0 for _, degree in graph.get_networkx_graph().degree())
