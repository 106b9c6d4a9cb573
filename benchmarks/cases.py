"""What is timed: one entry a case, with the sizes it is timed at and the budget it must keep."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


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


GPUS_PER_SERVER = 8
SIZES = (1_016, 16_384, 200_000)
GIB = 2**30


def three_tier_text(gpus: int) -> str:
    """Return the description of a three-tier fat tree of so many GPUs."""
    return f"preset: three-tier-200k\nservers: {{count: {gpus // GPUS_PER_SERVER}}}\n"


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


CASES: tuple[CommandCase | FunctionCase, ...] = (
    CommandCase("help", lambda _: ["--help"], budget_s=0.3),
    CommandCase(
        "design with files", design_arguments, (1_016, 16_384), "GPUs", budget_s=5, budget_bytes=2 * GIB
    ),
    FunctionCase("wire in memory", prepare_wiring, SIZES, "GPUs", budget_s=2, budget_bytes=2 * GIB),
    FunctionCase("ring all-reduce", prepare_ring, SIZES, "GPUs", budget_s=2, budget_bytes=2 * GIB),
)
