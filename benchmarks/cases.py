"""What is timed: one entry a case, with the sizes it is timed at and the budget it must keep."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fabric_flows import HOST, Messages, all_to_all, random_permutation, three_tier_text


@dataclass(frozen=True)
class CommandCase:
    """A command in a process of its own, so that every run is cold.

    ``arguments`` makes the words after ``gpufabric`` for one size; budgets hold at the largest size.
    """

    name: str
    arguments: Callable[[int], list[str]]
    sizes: tuple[int, ...] = (1,)
    size_name: str = ""
    budget_s: float | None = None
    budget_bytes: int | None = None

    def command(self, size: int) -> list[str]:
        """Return the whole command line."""
        return [sys.executable, "-m", "gpufabric", *self.arguments(size)]


@dataclass(frozen=True)
class FunctionCase:
    """A function in a new process: the first call is cold, the following ones are warm.

    ``prepare`` makes the input of one size and returns the function to time.
    """

    name: str
    prepare: Callable[[int], Callable[[], object]]
    sizes: tuple[int, ...] = (1,)
    size_name: str = ""
    budget_s: float | None = None
    budget_bytes: int | None = None


SIZES = (1_016, 16_384, 200_000)
GIB = 2**30


def prepare_wiring(gpus: int) -> Callable[[], object]:
    """Time from a validated description to the wired cluster, every port assigned."""
    from gpufabric.catalog.load import load_catalog
    from gpufabric.formats.cluster_yaml import parse_cluster_spec
    from gpufabric.topologies import build_cluster

    spec = parse_cluster_spec(three_tier_text(gpus), "benchmark")
    catalog = load_catalog()
    return lambda: build_cluster(spec, catalog)


def prepare_ring(gpus: int) -> Callable[[], object]:
    """Time a ring all-reduce of 8 GiB over all GPUs of a wired cluster, graph included."""
    from gpufabric.catalog.load import load_catalog
    from gpufabric.formats.cluster_yaml import parse_cluster_spec
    from gpufabric.jobs.collective import predict_collective
    from gpufabric.topologies import build_cluster, resolve_parts

    spec = parse_cluster_spec(three_tier_text(gpus), "benchmark")
    catalog = load_catalog()
    cluster, parts = build_cluster(spec, catalog), resolve_parts(spec, catalog)
    return lambda: predict_collective(cluster, parts, "all_reduce", [8 * GIB])


def design_arguments(gpus: int) -> list[str]:
    """Design with plan, bill of materials and drawing, into a folder that is thrown away."""
    folder = Path(tempfile.mkdtemp(prefix="gpufabric-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "cluster.yaml").write_text(three_tier_text(gpus), encoding="utf-8")
    return ["design", str(folder / "cluster.yaml"), "-o", str(folder / "out")]


def export_arguments(gpus: int) -> list[str]:
    """Write every target that takes any network, into a folder that is thrown away."""
    from gpufabric.exports import EXPORTS

    folder = Path(tempfile.mkdtemp(prefix="gpufabric-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "cluster.yaml").write_text(three_tier_text(gpus), encoding="utf-8")
    names = ",".join(name for name, target in EXPORTS.items() if target.network == "any")
    return ["export", str(folder / "cluster.yaml"), "--to", names, "-o", str(folder / "out")]


def lab_arguments(ports: int) -> list[str]:
    """Route a full fat tree of so many adapter ports with OpenSM on ibsim, discover it and check it."""
    folder = Path(tempfile.mkdtemp(prefix="gpufabric-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    spec = folder / "cluster.yaml"
    spec.write_text(
        f"name: lab\nservers: {{model: dgx-h100, count: {ports // 8}}}\n"
        "fabrics: {topology: fat-tree, switch: qm9790}\n",
        encoding="utf-8",
    )
    return ["lab", "ib", str(spec), "--timeout", "600"]


def prepare_max_min(gpus: int) -> Callable[[], object]:
    """Time one max-min solve of a random permutation over all network ports, on hashed paths."""
    from gpufabric.kernels.max_min import max_min_rates

    messages = random_permutation(three_tier_text(gpus))
    flows, capacity = messages.flows, messages.graph.bytes_per_s
    return lambda: max_min_rates(flows.first, flows.link, flows.weight, capacity)


def prepare_permutation(flows: int) -> Callable[[], object]:
    """Time a random permutation to the end of the last of its equal flows."""
    return _to_the_end(random_permutation(three_tier_text(flows)))


def prepare_mixed_permutation(flows: int) -> Callable[[], object]:
    """Time a random permutation to its end when all sizes differ, so that every flow ends at a time of its own."""
    return _to_the_end(random_permutation(three_tier_text(flows)), 10.0)


def prepare_all_to_all(hosts: int) -> Callable[[], object]:
    """Time an all-to-all at once to the end of its last flow."""
    return _to_the_end(all_to_all(three_tier_text(hosts, HOST, 1)))


def prepare_mixed_all_to_all(hosts: int) -> Callable[[], object]:
    """Time an all-to-all to its end when all sizes differ: every end changes nearly every rate."""
    return _to_the_end(all_to_all(three_tier_text(hosts, HOST, 1)), 10.0)


def _to_the_end(messages: Messages, spread: float = 1.0) -> Callable[[], object]:
    import numpy as np

    from gpufabric.simulators import fluid

    size = GIB * np.random.default_rng(0).uniform(1.0, spread, messages.flows.count)
    return lambda: fluid.run(messages.graph, messages.flows, size)


CASES: tuple[CommandCase | FunctionCase, ...] = (
    CommandCase("help", lambda _: ["--help"], budget_s=0.3),
    CommandCase(
        "design with files", design_arguments, (1_016, 16_384), "GPUs", budget_s=5, budget_bytes=2 * GIB
    ),
    CommandCase(
        "export to all", export_arguments, (1_016, 16_384), "GPUs", budget_s=10, budget_bytes=2 * GIB
    ),
    *(
        # One size a case: each has a budget of its own, and neither runs without OpenSM and ibsim.
        CommandCase(f"opensm on {ports:,} ports", lab_arguments, (ports,), "ports", budget_s=budget)
        for ports, budget in ((2_048, 15), (16_384, 180))
        if shutil.which("ibsim") and shutil.which("opensm", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    ),
    FunctionCase("wire in memory", prepare_wiring, SIZES, "GPUs", budget_s=2, budget_bytes=2 * GIB),
    FunctionCase("ring all-reduce", prepare_ring, SIZES, "GPUs", budget_s=2, budget_bytes=2 * GIB),
    FunctionCase("max-min rates", prepare_max_min, (25_000, 50_000, 100_000, 200_000), "flows", budget_s=0.2),
    FunctionCase("permutation to the end", prepare_permutation, (4_096,), "flows", budget_s=0.016),
    FunctionCase("its sizes all different", prepare_mixed_permutation, (4_096,), "flows"),
    FunctionCase("all-to-all to the end", prepare_all_to_all, (128, 512), "hosts", budget_s=2),
    FunctionCase("all-to-all of mixed sizes", prepare_mixed_all_to_all, (16, 32), "hosts"),
)
