"""NCCL's topology and graph files, whole, partial, cut and hostile."""

from pathlib import Path

from gpufabric.formats import nccl_graph_xml, nccl_topology_xml

CAPTURED = Path(__file__).parents[2] / "captured"
TOPOLOGY = CAPTURED / "nccl-topology-xml"


def rules(record) -> list[str]:
    return [finding.rule for finding in record.findings]


def test_a_gpu_with_one_link_less_and_a_speed_in_another_unit():
    read = nccl_topology_xml.read(TOPOLOGY / "four-gpu-one-link-short.xml")
    assert [cpu.numa_node for cpu in read.cpus] == [0, 1]
    assert [read.lanes_of(i) for i in range(4)] == [18, 18, 17, 18]
    assert [gpu.rank for gpu in read.gpus] == [3, 2, 1, 0]
    assert [net.bytes_per_s for net in read.nets] == [50e9, 50e9, 50e9, 0.0]
    assert rules(read) == ["input-contradiction", "gpu-links-missing"]
    near = [[read.pci[nic].bus_id for nic in read.nearest_nics(gpu)] for gpu in read.pci_of("gpu")]
    assert near == [["0000:03:00.0"], ["0000:23:00.0"], ["0000:43:00.0"], ["0000:63:00.0"]]
    gpu = read.pci[read.gpus[0].pci]
    assert (gpu.transfers_per_s, gpu.lanes, gpu.cpu) == (32e9, 16, 0)
    assert (read.cut, read.lines_not_understood) == (False, 0)


def test_a_static_file_counts_by_class():
    read = nccl_topology_xml.read(TOPOLOGY / "static-classes-only.xml")
    assert (len(read.gpus), len(read.nets)) == (0, 0)
    assert (len(read.pci_of("gpu")), len(read.pci_of("nic")), len(read.pci_of("bridge"))) == (2, 2, 2)
    assert [device.made_up for device in read.pci] == [True, False, False, True, False, False]
    assert read.pci[3].transfers_per_s == 0.0
    assert read.path(1, 2) == "PIX"
    assert read.path(1, 5) == "SYS"
    assert read.findings == ()


def test_a_partial_file_invents_no_gpu():
    read = nccl_topology_xml.read(TOPOLOGY / "partial-no-classes.xml")
    assert not read.classes_known
    assert [device.kind for device in read.pci] == ["unknown"] * 3
    assert read.cpus[0].numa_node == -1
    assert rules(read) == ["nccl-topology-partial"]


def test_xgmi_links_and_rccls_version():
    read = nccl_topology_xml.read(TOPOLOGY / "xgmi-two-gpus.xml")
    assert read.version == 2
    assert [(link.kind, link.target) for link in read.links] == [
        ("xgmi", "0000:22:00.0"),
        ("xgmi", "0000:21:00.0"),
    ]
    assert [gpu.arch for gpu in read.gpus] == ["gfx942", "gfx942"]
    assert read.path(0, 1) == "PHB"


def test_cut_xml_keeps_what_is_there():
    read = nccl_topology_xml.read(TOPOLOGY / "cut-in-an-attribute.xml")
    assert (read.cut, len(read.gpus)) == (True, 2)
    assert rules(read) == ["input-cut"]


def test_entities_are_refused():
    read = nccl_topology_xml.read(TOPOLOGY / "entity-bomb.xml")
    assert (read.cpus, rules(read)) == ((), ["input-contradiction"])


def test_depth_is_bounded(tmp_path):
    path = tmp_path / "deep.xml"
    path.write_text('<system version="1"><cpu>' + '<pci busid="0000:01:00.0">\n' * 5000)
    read = nccl_topology_xml.read(path)
    assert len(read.pci) < 100
    assert any("nested more than 64 deep" in finding.message for finding in read.findings)


def test_graphs_with_their_channels():
    read = nccl_graph_xml.read(CAPTURED / "nccl-graph-xml" / "ring-and-tree.xml")
    ring, tree = read.graphs
    assert (ring.pattern, tree.pattern) == ("ring", "balanced_tree")
    assert [channel.gpus for channel in ring.channels] == [("0", "2", "3", "1"), ("1", "3", "2", "0")]
    assert [channel.nets for channel in ring.channels] == [("0", "0"), ("1", "1")]
    assert (ring.intra_bytes_per_s, ring.type_inter) == (20e9, "PIX")
    assert "says 2 channels and has 1" in read.findings[0].message
