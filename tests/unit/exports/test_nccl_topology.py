"""NCCL topology file: reads back with the near NIC of each GPU as the server's part has it; what does not fit is refused."""

import io

import pytest

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.formats import lspci_text, nccl_topology_xml

GPU, NIC = "3D controller: NVIDIA Corporation Example", "Infiniband controller: Example Corp Adapter"


def lspci(gpus: int, nics: int, numa=lambda kind, number: number * 2 // 8) -> tuple:
    """Return functions of a server whose GPUs come before its NICs on the bus, as in virtual machines."""
    lines = []
    for kind, count, words, first in (("gpu", gpus, GPU, 0x10), ("nic", nics, NIC, 0x40)):
        for number in range(count):
            lines += [f"00{first + number:02x}:00:00.0 {words}", f"\tNUMA node: {numa(kind, number)}"]
            lines += ["\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16"]
    return lspci_text.read(io.BytesIO("\n".join(lines).encode()), "lspci.txt").functions


def topology_of(source_of, functions, **more):
    fabric = "{name: compute, topology: rail-optimized, switch: qm9790}"
    text = f"name: x\nservers: {{model: dgx-h100, count: 2}}\nfabrics:\n  - {fabric}\n"
    (file,) = EXPORTS["nccl-topo"].write(source_of(text, lspci=functions, **more))
    return nccl_topology_xml.read(io.BytesIO(b"".join(file.pieces)), file.path)


def test_the_near_nic_of_every_gpu_is_as_designed(source_of):
    topology = topology_of(source_of, lspci(8, 8))
    assert not topology.findings
    assert not topology.lines_not_understood
    gpus = topology.pci_of("gpu")
    ids = sorted(topology.pci[gpu].bus_id for gpu in gpus)
    assert ids == [f"00{0x10 + number:02x}:00:00.0" for number in range(8)]
    for gpu in gpus:
        (near,) = topology.nearest_nics(gpu)
        number = int(topology.pci[gpu].bus_id[:4], 16) - 0x10
        assert topology.pci[near].bus_id == f"00{0x40 + number:02x}:00:00.0"
        assert topology.path(gpu, near) == "PIX"


def test_cpus_and_links(source_of):
    topology = topology_of(source_of, lspci(8, 8))
    assert [cpu.numa_node for cpu in topology.cpus] == [0, 1]
    assert len(topology.pci_of("bridge")) == 8
    assert all(device.transfers_per_s == 32e9 and device.lanes == 16 for device in topology.pci)
    assert all(topology.pci[row].made_up for row in topology.pci_of("bridge"))


def test_numa_nodes_are_those_of_the_machine(source_of):
    topology = topology_of(source_of, lspci(8, 8, lambda kind, number: 5 if number < 4 else 3))
    node = {
        topology.pci[gpu].bus_id: topology.cpus[topology.pci[gpu].cpu].numa_node
        for gpu in topology.pci_of("gpu")
    }
    assert (node["0010:00:00.0"], node["0017:00:00.0"]) == (5, 3)


def test_nics_can_be_named(source_of):
    more = lspci(8, 10, lambda kind, number: -1)
    with pytest.raises(InputError, match="10 NICs, dgx-h100 has 8 ports for compute"):
        topology_of(source_of, more)
    names = ",".join(f"00{0x49 - number:02x}:00:00.0" for number in range(8))
    topology = topology_of(source_of, more, options=(("nics", names),))
    first = next(row for row in topology.pci_of("gpu") if topology.pci[row].bus_id == "0010:00:00.0")
    assert topology.pci[topology.nearest_nics(first)[0]].bus_id == "0049:00:00.0"


@pytest.mark.parametrize(
    ("functions", "options", "said"),
    [
        ((), (), "give the output of lspci"),
        (lspci(4, 8), (), "4 GPUs, dgx-h100 has 8"),
        (lspci(8, 8, lambda kind, number: number % 2), (), "order of bus ids is not that of the part"),
        (lspci(8, 8, lambda kind, number: 0), (), "on one NUMA node"),
        (lspci(8, 8), (("nics", "0099:00:00.0"),), "is no NIC of lspci"),
    ],
)
def test_what_does_not_fit_is_refused(source_of, functions, options, said):
    with pytest.raises(InputError, match=said):
        topology_of(source_of, functions, options=options)
