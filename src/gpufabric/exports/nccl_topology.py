"""Server part and ``lspci`` of one server → NCCL topology XML for virtual machines (``NCCL_TOPO_FILE``)."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from gpufabric.errors import InputError, printable
from gpufabric.exports.simulated_gpus import simulated_gpus
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.pci_functions import FunctionKind, PciFunction
from gpufabric.records.server_parts import InsideNic, InsidePcie, ServerPart
from gpufabric.units import counted, gigabytes

PROGRAM = "nccl-topo"
NICS = ExportOption(
    "nics",
    (),
    "",
    "bus ids of the compute NICs, in the order of the part, with commas between them; default: all NICs, by bus id",
)
_CLASSES = {
    "gpu": "0x030200",
    "amd": "0x120000",
    "infiniband": "0x020700",
    "ethernet": "0x020000",
    "bridge": "0x060400",
}
# What x16 slots of the generations carry in GB/s, one direction, after encoding, and what NCCL calls their speed.
_GENERATIONS = (
    (15.75, "8.0 GT/s PCIe"),
    (31.5, "16.0 GT/s PCIe"),
    (63.0, "32.0 GT/s PCIe"),
    (121.0, "64.0 GT/s PCIe"),
)
_NEAR = 0.15
_AMD = ("AMD", "Advanced Micro Devices")


def write(source: ExportSource) -> Iterator[ExportedFile]:
    """Yield the topology file of one server.

    Raises
    ------
    InputError
        If ``lspci`` is not given or does not fit the part: other counts of GPUs or compute NICs, or NUMA nodes that differ.
    """
    seen = simulated_gpus(source, PROGRAM)
    network = source.cluster.fabrics[seen.fabric].network
    yield ExportedFile.of_text("nccl-topology.xml", "\n".join(_lines(seen.server, source, network)) + "\n")


def _lines(part: ServerPart, source: ExportSource, network: str) -> Iterator[str]:
    placed, nodes = placed_functions(part, source)
    nic_class = _CLASSES.get(network, _CLASSES["ethernet"])
    bridges: dict[str, InsidePcie | None] = {one.id: one for one in part.pcie}
    bridges.setdefault("", None)
    node_of = {
        at: -1 if one is None or one.numa is None else nodes.get(one.numa, one.numa)
        for at, one in bridges.items()
    }
    used = {at for at, _ in placed}
    yield '<system version="1">'
    for node in sorted({node_of[at] for at in used}):
        yield f'  <cpu numaid="{node}">'
        for number, (at, bridge) in enumerate(bridges.items(), start=1):
            if at not in used or node_of[at] != node:
                continue
            speed, width = _speed(bridge)
            link = f'link_speed={quoteattr(speed)} link_width="{width}"'
            yield f'    <pci busid="ffff:ff:{number:02x}.0" class="{_CLASSES["bridge"]}" {link}>'
            for function in (function for below, function in placed if below == at):
                kind = _gpu_class(function) if function.kind == "gpu" else nic_class
                yield f'      <pci busid={quoteattr(_bus_id(function))} class="{kind}"{_own_link(function)}/>'
            yield "    </pci>"
        yield "  </cpu>"
    yield "</system>"


def placed_functions(
    part: ServerPart, source: ExportSource
) -> tuple[list[tuple[str, PciFunction]], dict[int, int]]:
    """Return GPUs and compute NICs of ``lspci`` with the PCIe switch of the part that each hangs on, and NUMA nodes.

    GPUs are in order of their bus ids, as drivers number them; so are NICs, each beside the next GPU of the part. NUMA nodes
    are those that ``lspci`` shows, by the part's number.

    Raises
    ------
    InputError
        If they don't fit the part.
    """
    functions = source.lspci
    if not functions:
        raise InputError(
            f"{PROGRAM}: bus addresses are not known; give the output of lspci -vvv of one server with --lspci FILE"
        )
    gpus = _sorted(functions, "gpu")
    if len(gpus) != len(part.gpus):
        raise InputError(
            f"--lspci: shows {counted(len(gpus), 'GPU')}, {printable(part.id)} has {len(part.gpus)}; give lspci "
            "-vvv of such a server"
        )
    wanted = _compute_nics(part)
    nics = _chosen_nics(source, functions) if source.option("nics") else _sorted(functions, "nic")
    if len(nics) != len(wanted):
        raise InputError(
            f"--lspci: shows {counted(len(nics), 'NIC')}, {printable(part.id)} has {len(wanted)} ports for compute; "
            "name their bus ids in the part's order with --set nics=ID,ID"
        )
    placed = [(gpu.pcie, function) for gpu, function in zip(part.gpus, gpus, strict=True)]
    placed += [(nic.pcie, function) for nic, function in zip(wanted, nics, strict=True)]
    return placed, _numa_nodes(part, placed)


def _numa_nodes(part: ServerPart, placed: list[tuple[str, PciFunction]]) -> dict[int, int]:
    """Return the NUMA node that lspci shows for each of the part's, as far as it shows any."""
    numa_of = {one.id: one.numa for one in part.pcie}
    nodes: dict[int, int] = {}
    for at, function in placed:
        designed = numa_of.get(at)
        if designed is None or function.numa_node < 0:
            continue
        if nodes.setdefault(designed, function.numa_node) != function.numa_node:
            raise InputError(
                f"--lspci: {printable(function.bus_id)} is on NUMA node {function.numa_node}, others of its half of "
                f"{printable(part.id)} on {nodes[designed]}; the order of bus ids is not that of the part; name the NICs "
                "in its order with --set nics=ID,ID"
            )
    if len(set(nodes.values())) < len(nodes):
        raise InputError(
            f"--lspci: devices of both halves of {printable(part.id)} are on one NUMA node; the part has {len(nodes)}; "
            "give lspci -vvv of such a server, or correct the part"
        )
    return nodes


def _compute_nics(part: ServerPart) -> list[InsideNic]:
    """Return the NIC of each compute port, in the order of the GPUs that they stand beside."""
    ports = [nic for nic in part.nics if nic.purpose == "compute" for _ in nic.ports]
    return sorted(ports, key=lambda nic: len(part.gpus) if nic.gpu is None else nic.gpu)


def _chosen_nics(source: ExportSource, functions: tuple[PciFunction, ...]) -> list[PciFunction]:
    by_id = {_bus_id(function): function for function in functions if function.kind == "nic"}
    chosen = []
    for text in source.option("nics").split(","):
        name = text.strip().lower()
        function = by_id.get(name) or by_id.get(f"0000:{name}")
        if function is None or function in chosen:
            known = ", ".join(list(by_id)[:16])
            raise InputError(
                f'--set nics: "{printable(text)}" is no NIC of lspci, or named twice; it shows {known or "none"}'
            )
        chosen.append(function)
    return chosen


def _sorted(functions: tuple[PciFunction, ...], kind: FunctionKind) -> list[PciFunction]:
    return sorted((function for function in functions if function.kind == kind), key=_bus_id)


def _bus_id(function: PciFunction) -> str:
    """Return the bus id with its domain, which lspci leaves out where there is only one."""
    text = function.bus_id.lower()
    return text if text.count(":") > 1 else f"0000:{text}"


def _gpu_class(function: PciFunction) -> str:
    return _CLASSES["amd" if any(maker in function.name for maker in _AMD) else "gpu"]


def _own_link(function: PciFunction) -> str:
    if not function.capable_lanes or not function.capable_transfers_per_s:
        return ""
    speed = gigabytes(function.capable_transfers_per_s)
    return f' link_speed="{speed:.1f} GT/s PCIe" link_width="{function.capable_lanes}"'


def _speed(bridge: InsidePcie | None) -> tuple[str, int]:
    """Return a bridge's speed and width towards its CPU; nothing where no generation is near, which NCCL takes as unknown."""
    rate = 0.0 if bridge is None else gigabytes(bridge.bytes_per_s)
    near = min(_GENERATIONS, key=lambda one: abs(one[0] - rate))
    return (near[1], 16) if abs(rate / near[0] - 1) <= _NEAR else ("", 0)


TARGET = ExportTarget(
    name="nccl-topo",
    title="NCCL topology file (NCCL_TOPO_FILE) for virtual machines",
    files="nccl-topology.xml",
    kept="which PCIe switch and CPU every GPU and compute NIC hangs on, as the server's part says; bus ids, speeds and "
    "widths of lspci",
    lost="everything outside one server; NVLinks, names and rates of NICs, CPU models (NCCL finds these itself); NICs "
    "for other purposes",
    network="any",
    source="NCCL, src/graph/xml.cc of https://github.com/NVIDIA/nccl, and NCCL_TOPO_FILE in "
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, read 2026-12-01",
    write=write,
    from_files=False,
    options=(NICS,),
)
