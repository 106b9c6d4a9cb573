"""The constants that are fitted, with what was believed before the measurements, and the model on arrays of them.

A constant's name is its place in the calibration. Beliefs: latencies and LL's and LL128's shares are of NCCL's own tuning model
(src/graph/tuning.cc), the shares of NVLink of its src/graph/topo.h (20, 20.6 and 40.1 GB/s a link of 25, 25 and 50); each is a
centre and a spread of the logarithm. Classes are pulled to the centre, so that one without data gets a fair guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.libraries.estimate import MULTICAST, filling_time, limit_rates_of, protocol_bound, wire_time
from gpufabric.records.calibration import (
    MANY_NODES,
    AlgorithmConstants,
    Calibration,
    NetworkClass,
    ProtocolConstants,
    ResidualRange,
    ScaleUpClass,
)
from gpufabric.records.measured_collective import ONE_PROCESS, TORCH
from measured_rows import MeasuredRow

Floats = NDArray[np.float64]

PROTOCOLS = {
    "ll": ProtocolConstants(
        base_s=6.6e-6,
        inside_step_s=0.6e-6,
        fabric_step_s=5e-6,
        rate_share=0.4,
        fill=0.2,
        # Table llMaxBws of tuning.cc, of its rows the fastest a column: they differ by CPU.
        most_bus_bytes_per_s=(87.7e9, 39.0e9, 20.4e9),
    ),
    "ll128": ProtocolConstants(
        base_s=14e-6, inside_step_s=1.9e-6, fabric_step_s=6e-6, rate_share=0.92, fill=0.5
    ),
    "simple": ProtocolConstants(
        base_s=8.4e-6, inside_step_s=3.4e-6, fabric_step_s=14e-6, rate_share=1, fill=2.5
    ),
}
MULTICAST_STEPS = ProtocolConstants(
    base_s=25e-6, inside_step_s=2e-6, fabric_step_s=14e-6, rate_share=1, fill=5
)
BOTH = ("switched", "mesh")


def _gpus(*patterns: str, kinds: tuple[str, ...] = BOTH, multicast: float | None = None) -> ScaleUpClass:
    share = 0.78 if "pcie" not in kinds else 0.6
    return ScaleUpClass(
        gpus=patterns, kinds=kinds, base_factor=1, step_factor=1, rate_share=share, multicast_share=multicast
    )


def _network(networks: tuple[str, ...], nics: tuple[str, ...], step_factor: float = 1) -> NetworkClass:
    return NetworkClass(networks=networks, nics=nics, step_factor=step_factor, rate_share=0.93, fill_factor=2)


ANY_KIND = ("switched", "mesh", "pcie", "none", "")
SCALE_UPS = {
    "nvlink-bridge": _gpus("*-pcie*", "*-nvl", kinds=("mesh",)),
    "nvlink2": _gpus("v100-sxm*"),
    "nvlink3": _gpus("a100-sxm*"),
    "nvlink4": _gpus("h100-sxm", "h200-sxm", "h800-sxm", "h20-sxm", "gh200", multicast=0.65),
    "nvlink5": _gpus("b200-*", "b300-*", "gb200", "gb300", multicast=0.6),
    "xgmi": _gpus("mi*", kinds=("mesh",)),
    "pcie": _gpus("*", kinds=("pcie", "none")),
    "other": _gpus("*", kinds=ANY_KIND, multicast=0.65),
}
NETWORKS = {
    "efa": _network(("ethernet",), ("aws-efa-*",), 4),
    "slingshot": _network(("ethernet",), ("slingshot-*",), 1.5),
    "infiniband": _network(("infiniband",), ("*",)),
    "ethernet": _network(("ethernet",), ("*",)),
    "other": _network(("ethernet", "infiniband"), ("*",)),
}
ALGORITHMS = {
    "ring": AlgorithmConstants(several_nodes_share=1.1),
    "tree": AlgorithmConstants(several_nodes_share=0.8, many_nodes_share=0.85),
    "nvls": AlgorithmConstants(),
    "nvls_tree": AlgorithmConstants(several_nodes_share=0.9, many_nodes_share=0.85),
    "pairwise": AlgorithmConstants(),
    "pxn": AlgorithmConstants(),
    "direct": AlgorithmConstants(),
}
OPERATIONS = {
    "all_reduce": 1.0,
    "all_gather": 1.0,
    "reduce_scatter": 1.0,
    "broadcast": 1.0,
    "all_to_all": 1.0,
}
#: Where a step crosses PCIe, NCCL has it take 1 / 0.6 as long.
PCIE_STEP = 1.0 / 0.6
_NO_RANGE = ResidualRange(low=0, high=0, slow=0, new_low=0, new_high=0, new_slow=0, clusters=0, rows=0)
BANDS = tuple(
    f"{nodes}-{size}" for nodes in ("one-node", "several-nodes") for size in ("small", "middle", "large")
)
BELIEVED = Calibration(
    name="nccl-published",
    script="scripts/fit_collectives.py",
    protocols=PROTOCOLS,
    multicast=MULTICAST_STEPS,
    scale_ups={
        name: known.model_copy(update={"step_factor": PCIE_STEP} if name == "pcie" else {})
        for name, known in SCALE_UPS.items()
    },
    networks=NETWORKS,
    algorithms=ALGORITHMS,
    operations=OPERATIONS,
    other_start_s=25e-6,
    # A launch of a short kernel, from a page of NVIDIA's: https://developer.nvidia.com/blog/cuda-graphs/, read 2026-12.
    launch_s=3.8e-6,
    ranges=dict.fromkeys(BANDS, _NO_RANGE),
    clusters=0,
    rows=0,
)


@dataclass(frozen=True)
class Constants:
    """Names, and centre and spread of the logarithm of each."""

    names: tuple[str, ...]
    centre: Floats
    spread: Floats

    def place(self, name: str) -> int:
        return self.names.index(name)


def believed_constants() -> Constants:
    """Return all that is fitted. Shares that NCCL takes as they are stay out: they are 1."""
    spreads = {"base_s": 0.3, "inside_step_s": 0.5, "fabric_step_s": 0.5, "fill": 0.5, "rate_share": 0.3}
    rows: list[tuple[str, float, float]] = []
    for name, protocol in PROTOCOLS.items():
        rows += [
            (f"protocols.{name}.{field}", getattr(protocol, field), spread)
            for field, spread in spreads.items()
            if (name, field) != ("simple", "rate_share")
        ]
    for field, spread in spreads.items():
        if field not in ("rate_share",):
            rows.append((f"multicast.{field}", getattr(MULTICAST_STEPS, field), spread))
    for name, known in BELIEVED.scale_ups.items():
        if name == "other":
            continue
        rows.append((f"scale_ups.{name}.step_factor", known.step_factor, 0.35))
        rows.append((f"scale_ups.{name}.rate_share", known.rate_share, 0.12))
        if known.multicast_share:
            rows.append((f"scale_ups.{name}.multicast_share", known.multicast_share, 0.1))
    for name, network in NETWORKS.items():
        if name not in ("other", "slingshot"):
            rows.append((f"networks.{name}.step_factor", network.step_factor, 0.5))
            rows.append((f"networks.{name}.rate_share", network.rate_share, 0.03))
            rows.append((f"networks.{name}.fill_factor", network.fill_factor, 0.5))
    rows += [
        ("algorithms.ring.several_nodes_share", 1.1, 0.05),
        ("algorithms.tree.several_nodes_share", 0.8, 0.2),
        ("algorithms.tree.many_nodes_share", 0.85, 0.07),
        ("algorithms.nvls_tree.several_nodes_share", 0.9, 0.05),
        ("algorithms.nvls_tree.many_nodes_share", 0.85, 0.07),
    ]
    rows += [(f"operations.{op}", 1.0, 0.05) for op in OPERATIONS if op != "all_reduce"]
    rows.append(("other_start_s", BELIEVED.other_start_s, 0.3))
    rows.append(("launch_s", BELIEVED.launch_s, 0.3))
    return Constants(
        tuple(r[0] for r in rows),
        np.log(np.array([r[1] for r in rows])),
        np.array([r[2] for r in rows]),
    )


def values_of(constants: Constants, logs: Floats) -> dict[str, float]:
    """Return the constants by name, with the base factors: the root of how far steps are from what was believed of them."""
    values = {name: float(f"{np.exp(log):.4g}") for name, log in zip(constants.names, logs, strict=True)}
    for name, known in BELIEVED.scale_ups.items():
        if name != "other":
            factor = values[f"scale_ups.{name}.step_factor"] / known.step_factor
            values[f"scale_ups.{name}.base_factor"] = float(f"{np.sqrt(factor):.4g}")
    return values


class TimeModel:
    """All candidates of all rows as arrays; ``times`` gives the expected time of each row."""

    def __init__(self, rows: list[MeasuredRow], constants: Constants) -> None:
        self.rows = rows
        self._place = {name: i for i, name in enumerate(constants.names)}
        self._free = len(constants.names)
        self._fixed: list[float] = []
        flat = [(i, priced, protocol) for i, row in enumerate(rows) for priced, protocol in row.candidates]
        self.row_of = np.array([i for i, _, _ in flat])
        self.first = np.flatnonzero(np.r_[True, np.diff(self.row_of) > 0])
        self.labels = [f"{priced.algorithm}/{protocol}" for _, priced, protocol in flat]
        size = np.array([float(rows[i].size_bytes) for i, _, _ in flat])
        rates = np.array([limit_rates_of(priced, rows[i].situation) for i, priced, _ in flat])
        self._inside_s, self._fabric_s = size / rates[:, 0], size / rates[:, 1]
        self._bound_s = size / np.array(
            [protocol_bound(PROTOCOLS[name], rows[i].op, rows[i].situation) for i, _, name in flat]
        )
        self._path_s = np.array([priced.path_latency_s for _, priced, _ in flat])
        ranks = [rows[i].situation.node_ranks for i, _, _ in flat]
        multicast = [priced.algorithm in MULTICAST for _, priced, _ in flat]
        self._inside_steps = np.array(
            [
                float(r if m else p.inside_steps)
                for r, m, (_, p, _) in zip(ranks, multicast, flat, strict=True)
            ]
        )
        self._fabric_steps = np.array([float(priced.fabric_steps) for _, priced, _ in flat])
        scale_ups = [BELIEVED.scale_ups[BELIEVED.scale_up_of(rows[i].situation)] for i, _, _ in flat]
        self._believed_factor = np.array([known.step_factor for known in scale_ups])
        names = [self._names(rows[i], priced.algorithm, protocol) for i, priced, protocol in flat]
        self._at = {key: np.array([one[key] for one in names]) for key in names[0]}
        self._launches = np.array([row.situation.node_ranks * (row.tool == ONE_PROCESS) for row in rows])
        self._launch = constants.place("launch_s")
        self._fixed_log = np.log(np.array(self._fixed or [1.0]))

    def _index(self, name: str, otherwise: float = 1.0) -> int:
        if name in self._place:
            return self._place[name]
        self._fixed.append(otherwise)
        return self._free + len(self._fixed) - 1

    def _names(self, row: MeasuredRow, algorithm: str, protocol: str) -> dict[str, int]:
        multicast = algorithm in MULTICAST
        scale_up, network = BELIEVED.scale_up_of(row.situation), BELIEVED.network_of(row.situation)
        steps = "multicast" if multicast else f"protocols.{protocol}"
        share = "multicast_share" if multicast else "rate_share"
        found = {
            field: self._index(f"{steps}.{field}")
            for field in ("base_s", "inside_step_s", "fabric_step_s", "fill")
        }
        known = BELIEVED.networks[network] if network else None
        many, reached = row.situation.nodes >= MANY_NODES, "several_nodes_share"
        return {
            **found,
            "protocol_share": self._index(f"protocols.{protocol}.rate_share"),
            "operation": self._index(f"operations.{row.op}"),
            "inside_factor": self._index(f"scale_ups.{scale_up}.step_factor"),
            "inside_rate": self._index(f"scale_ups.{scale_up}.{share}"),
            "fabric_factor": self._index(
                f"networks.{network}.step_factor", known.step_factor if known else 1.0
            ),
            "fill_factor": self._index(
                f"networks.{network}.fill_factor", known.fill_factor if known else 1.0
            ),
            "fabric_rate": self._index(f"networks.{network}.rate_share", known.rate_share if known else 1.0),
            "inside_share": self._index(
                f"algorithms.{algorithm}.{reached}" if row.situation.nodes > 1 else ""
            ),
            "many": self._index(f"algorithms.{algorithm}.many_nodes_share" if many else ""),
            "tool": self._index("other_start_s" if row.tool == TORCH else "", 1e-12),
        }

    def candidate_times(self, logs: Floats) -> Floats:
        """Return the seconds of each candidate."""
        value = np.exp(np.concatenate([logs, self._fixed_log]))
        v = {key: value[place] for key, place in self._at.items()}
        hops = self._inside_steps * v["inside_step_s"] * v["inside_factor"]
        between = self._fabric_steps * v["fabric_step_s"] * v["fabric_factor"]
        filled = hops + v["fill_factor"] * between
        hops = hops + between
        carried = v["protocol_share"] * v["operation"]
        inside = self._inside_s / (carried * np.minimum(v["inside_rate"] * v["inside_share"], 1.0))
        fabric = self._fabric_s / (carried * v["fabric_rate"] * v["many"])
        wire = wire_time(np.maximum(inside, self._bound_s), fabric)
        filling = filling_time(wire, v["fill"] * filled)
        base = v["base_s"] * np.sqrt(v["inside_factor"] / self._believed_factor) + self._path_s
        return base + hops + wire + filling + v["tool"]

    def times(self, logs: Floats, sharpness: float = 0.0) -> Floats:
        """Return the seconds of each row: the least of its candidates, or a smooth least that can be differentiated."""
        each = self.candidate_times(logs)
        least = np.minimum.reduceat(each, self.first)
        if sharpness:
            near = (each / least[self.row_of]) ** -sharpness
            least = least * np.add.reduceat(near, self.first) ** (-1 / sharpness)
        return np.maximum(least, self._launches * np.exp(logs[self._launch]))

    def picks(self, logs: Floats) -> list[str]:
        """Return which candidate each row is expected to have run."""
        each = self.candidate_times(logs)
        ends = np.r_[self.first[1:], len(each)]
        return [
            self.labels[lo + int(np.argmin(each[lo:hi]))] for lo, hi in zip(self.first, ends, strict=True)
        ]
