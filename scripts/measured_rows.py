"""Table of published collectives → rows with a situation and the candidates that the library may have run.

Candidates are priced in closed form from the row's own nominal figures: what the pricing of a wiring gives where nothing is
oversubscribed. Rates are bytes of message per second, as in gpufabric.records.priced_algorithm.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpufabric.records.bus_factor_table import BUS_FACTORS
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.priced_algorithm import PricedAlgorithm
from gpufabric.units import from_gigabytes, from_microseconds, parse_rate

NEEDED = (
    "cluster", "hw_class", "kind", "source", "source_ref", "gpu", "gpus_per_node", "scale_up", "scale_up_GBps_per_gpu_dir",
    "nic", "nics_per_node", "nic_Gbps", "fabric", "nodes", "gpus", "collective", "bytes", "time_us", "busbw_GBps",
    "algo_proto_env", "tool", "notes",
)  # fmt: skip
OPS = {"alltoall": "all_to_all"}
NVL72_SERVERS = 18
#: A figure printed with fewer digits than this is rounded by more than a tenth.
LEAST_PRINTED_GBPS = 0.05
#: Where a text gives the maximum of a sweep without its size, the sweep's usual largest.
LARGEST_BYTES = 8 << 30
GPUS = {
    "GH200": "gh200", "A100": "a100-sxm4-80gb", "H100-PCIe": "h100-pcie", "H100": "h100-sxm", "H200": "h200-sxm", "H800": "h800-sxm",
    "H20": "h20-sxm", "GB200": "gb200", "B200": "b200-sxm", "B300": "b300-sxm", "V100": "v100-sxm2-32gb",
    "MI300X": "mi300x", "MI350X": "mi350x", "RTX 4090": "rtx-4090", "RTX 5090": "rtx-5090", "RTX 6000D": "rtx-6000d",
}  # fmt: skip
NVLINK2_PARTS = {2: 25.0, 4: 100.0}
"""GB/s of one GPU to those of a DGX-1 pair and of a quad: links of the hybrid cube-mesh."""


class LeftOutError(Exception):
    """Why a row can't be used."""


@dataclass(frozen=True)
class MeasuredRow:
    """One row. ``known`` says that all that counts in the bars is there: NICs and a size."""

    cluster: str
    hw_class: str
    op: str
    size_bytes: int
    time_s: float
    tool: str
    known: bool
    situation: JobSituation
    candidates: tuple[tuple[PricedAlgorithm, str], ...]
    source: tuple[str, str]

    @property
    def bus_factor(self) -> float:
        scale, depends = BUS_FACTORS[self.op]
        return scale * (self.situation.ranks - 1) / self.situation.ranks if depends else scale


@dataclass
class _Wires:
    """Nominal rates of a row in bytes/s."""

    ranks: int
    nodes: int
    node_ranks: int
    gpu: float
    fabric: float
    mesh: bool = False
    pcie: bool = False


def read_rows(path: Path) -> tuple[list[MeasuredRow], Counter[str]]:
    """Return the usable rows, and how many were left out for which reason."""
    rows: list[MeasuredRow] = []
    left_out: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        missing = [c for c in NEEDED if c not in (table.fieldnames or ())]
        if missing:
            raise LeftOutError(f"columns are missing: {', '.join(missing)}")
        for row in table:
            try:
                rows.append(_row(row))
            except LeftOutError as reason:
                left_out[str(reason)] += 1
    return rows, left_out


def _row(row: dict[str, str]) -> MeasuredRow:
    if row["kind"] != "measured":
        raise LeftOutError("not a measurement")
    op = OPS.get(row["collective"], row["collective"])
    ranks, servers = int(_number(row, "gpus")), int(_number(row, "nodes"))
    size = int(row["bytes"] or LARGEST_BYTES)
    scale, depends = BUS_FACTORS[op]
    if row["time_us"]:
        time = from_microseconds(_number(row, "time_us"))
    elif _number(row, "busbw_GBps") > LEAST_PRINTED_GBPS:
        factor = scale * (ranks - 1) / ranks if depends else scale
        time = size * factor / from_gigabytes(_number(row, "busbw_GBps"))
    else:
        raise LeftOutError("printed with too few digits")
    wires, nics_known = _wires(row, ranks, servers)
    situation = _situation(row, wires)
    return MeasuredRow(
        row["cluster"],
        row["hw_class"],
        op,
        size,
        time,
        _tool(row),
        bool(row["bytes"]) and nics_known,
        situation,
        tuple(_candidates(row, op, wires, situation)),
        (row["source"], row["source_ref"]),
    )


def _number(row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise LeftOutError(f"no {column}") from None


def _wires(row: dict[str, str], ranks: int, servers: int) -> tuple[_Wires, bool]:
    domain = NVL72_SERVERS if "NVL72" in row["scale_up"] else 1
    nodes = math.ceil(servers / domain)
    local = int(_number(row, "gpus_per_node"))
    if not row["scale_up"]:
        raise LeftOutError("no scale-up links")
    rate = _number(row, "scale_up_GBps_per_gpu_dir")
    mesh = "mesh" in row["scale_up"] or "xGMI" in row["scale_up"]
    if mesh and nodes == 1:
        rate *= (ranks - 1) / (local - 1)
    if row["scale_up"] == "NVLink2":
        rate = NVLINK2_PARTS.get(ranks, rate)
    fabric, known = math.inf, True
    if nodes > 1:
        try:
            server = parse_rate(f"{_number(row, 'nics_per_node') * _number(row, 'nic_Gbps'):g} Gb/s")
        except LeftOutError:
            server, known = parse_rate(f"{50 * 8 * local} Gb/s"), False
        fabric = server * min(1.0, ranks / servers / local) * servers / nodes
    pcie = "PCIe" in row["scale_up"]
    return _Wires(ranks, nodes, ranks // nodes, from_gigabytes(rate), fabric, mesh, pcie), known


def _situation(row: dict[str, str], wires: _Wires) -> JobSituation:
    gpu = next((part for name, part in GPUS.items() if name in row["gpu"]), "")
    text = row["scale_up"]
    kind = "pcie" if wires.pcie else "mesh" if wires.mesh or "bridge" in text or text == "NVLink2" else "switched"
    several = wires.nodes > 1
    efa = "EFA" in row["nic"] or "EFA" in row["fabric"]
    nic = f"aws-efa-{row['nic'][-2:]}" if efa else "slingshot-11" if "Slingshot" in row["fabric"] else ""
    network = "infiniband" if "InfiniBand" in row["fabric"] else "ethernet" if row["fabric"] else ""
    nics = int(float(row["nics_per_node"] or 0))
    return JobSituation(
        ranks=wires.ranks,
        nodes=wires.nodes,
        node_ranks=wires.node_ranks,
        even=True,
        gpu=gpu,
        scale_up=kind,
        multicast=kind == "switched" and not gpu.startswith(("a100", "v100")),
        domain_servers=NVL72_SERVERS if "NVL72" in text else 1,
        network=network if several else "",
        nic=nic if several else "",
        node_nics=nics if several else 0,
        nic_bytes_per_s=parse_rate(f"{float(row['nic_Gbps'])} Gb/s") if several and row["nic_Gbps"] else math.nan,
        in_network=False,
    )


def _tool(row: dict[str, str]) -> str:
    said = row["algo_proto_env"]
    # The table of GPUs 4 to 8 of these two sources is by the same benchmark as their sweeps.
    other = "all_reduce_bench" in said or "single process" in said
    table = row["cluster"].startswith("stas_") and "nccl-tests" not in row["notes"]
    return "other start" if other or table else ""


def _allowed(said: str) -> tuple[set[str], set[str]]:
    """Return the algorithms and protocols that a row's settings leave; empty: all."""
    low = said.lower()
    protocols = {"ll128"} if "ll128" in low else {"simple"} if "/simple" in low else set()
    if "nvlstree" in low:
        return {"nvls_tree"}, protocols
    if "nvls_enable=0" in low or "ring" in low:
        return {"ring"}, protocols
    if "tree" in low:
        return {"tree"}, protocols
    return {"nvls"} if "nvls)" in low or low == "nccl_algo=nvls" else set(), protocols


def _candidates(
    row: dict[str, str], op: str, wires: _Wires, situation: JobSituation
) -> Iterator[tuple[PricedAlgorithm, str]]:
    algorithms, protocols = _allowed(row["algo_proto_env"])
    menu = [p for p in ("ll", "ll128", "simple") if p != "ll128" or not wires.pcie]
    # NCCL rates NVLSTree above a ring on three nodes or more; AWS's tuner and more channels do not.
    ring_rated = situation.nic.startswith("aws-efa") or "MIN_CTAS" in row["algo_proto_env"]
    for priced in _priced(op, wires, situation):
        if algorithms and priced.algorithm not in algorithms:
            continue
        simple_only = priced.algorithm in ("nvls", "nvls_tree", "pairwise")
        for protocol in ["simple"] if simple_only else menu:
            if protocols and protocol not in protocols:
                continue
            tree_wins = wires.nodes > 2 and situation.multicast and not algorithms and not ring_rated
            if priced.algorithm == "ring" and protocol == "simple" and tree_wins and op == "all_reduce":
                continue
            yield priced, protocol


def _priced(op: str, wires: _Wires, situation: JobSituation) -> Iterator[PricedAlgorithm]:
    n, nodes, local = wires.ranks, wires.nodes, wires.node_ranks
    if op == "all_to_all":
        fabric = wires.fabric / local * n / (n - local) if nodes > 1 else math.inf
        yield _algorithm(op, "pairwise", wires, (wires.gpu * n / (local - 1), fabric, local - 1, n - local))
        return
    scale, depends = BUS_FACTORS[op]
    factor = scale * (n - 1) / n if depends else scale
    rounds = 2 if op == "all_reduce" else 1
    crossings = rounds * nodes if nodes > 1 else 0
    # Between nodes one of a node's GPUs hands each ring to a NIC, not to a GPU.
    spared = local / (local - 1) if nodes > 1 and local > 1 and not wires.pcie else 1.0
    rates = wires.gpu / factor * spared, wires.fabric / factor
    yield _algorithm(op, "ring", wires, (*rates, rounds * (n - 1) - crossings, crossings))
    if op != "all_reduce":
        return
    depth = 2 * int(math.log2(nodes))
    tree_load = {1: 0.0, 2: 1.0, 3: 1.5}.get(nodes, 2.0)
    fabric = wires.fabric / tree_load if tree_load else math.inf
    if nodes > 1:
        inside = wires.gpu / 2 if local > 2 else wires.gpu
        yield _algorithm(op, "tree", wires, (inside, fabric, 2 * (local - 1), depth))
    if situation.multicast and local > 2:
        name = "nvls" if nodes == 1 else "nvls_tree"
        yield _algorithm(op, name, wires, (wires.gpu / (1 + 1 / local), fabric, 2, depth))


def _algorithm(
    op: str, name: str, wires: _Wires, figures: tuple[float, float, int, int]
) -> PricedAlgorithm:
    inside, fabric, inside_steps, fabric_steps = figures
    return PricedAlgorithm(
        op=op,
        algorithm=name,
        ranks=wires.ranks,
        nodes=wires.nodes,
        channels=0,
        line_bytes_per_s=min(inside, fabric),
        inside_bytes_per_s=inside,
        fabric_bytes_per_s=fabric,
        inside_steps=inside_steps,
        fabric_steps=fabric_steps,
        path_latency_s=0.0,
        bottleneck="",
    )
