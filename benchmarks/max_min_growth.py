"""Max-min solves of random permutations of several sizes, taken in turns in one process: medians, and growth beside linear.

A case of ``run.py`` has a process for each size, and what else the machine does then differs between sizes; here every round
solves each size once. Times are of the processor, so waiting for it does not count; memory that others keep busy does. *floor* is
the time in which the same process copies the arrays of the flows once: no solve can be faster.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from fabric_flows import random_permutation, three_tier_text
from gpufabric.kernels.max_min import max_min_rates

SIZES = (25_000, 50_000, 100_000, 200_000)
BUDGET_S, BUDGET_GROWTH = 0.2, 1.2


def processor_seconds(function: Callable[[], object]) -> float:
    """Return what one call takes."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    """Print a row a size."""
    parser = argparse.ArgumentParser(description="Growth of a max-min solve with the number of flows.")
    parser.add_argument(
        "--repeats", type=int, default=15, help="solves of each size that the median is taken of"
    )
    options = parser.parse_args()
    made = {size: random_permutation(three_tier_text(size)) for size in SIZES}
    solves = {
        size: lambda m=m: max_min_rates(m.flows.first, m.flows.link, m.flows.weight, m.graph.bytes_per_s)
        for size, m in made.items()
    }
    copies = {
        size: lambda m=m: (
            m.flows.first.copy(),
            m.flows.link.copy(),
            m.flows.weight.copy(),
            np.copy(m.graph.bytes_per_s),
        )
        for size, m in made.items()
    }
    for solve in solves.values():
        solve()
    times = {size: ([], []) for size in SIZES}
    for _ in range(options.repeats):
        for size in SIZES:
            times[size][0].append(processor_seconds(solves[size]))
            times[size][1].append(processor_seconds(copies[size]))
    print(f"{'flows':>9}{'entries a flow':>16}{'floor':>11}{'solve':>11}{'beside linear':>15}")
    least = median(times[SIZES[0]][0])
    for size in SIZES:
        solve, copy = (median(values) for values in times[size])
        growth = solve / least * SIZES[0] / size
        entries = len(made[size].flows.link) / made[size].flows.count
        print(f"{size:>9,}{entries:>16.2f}{copy * 1e3:>8.1f} ms{solve * 1e3:>8.1f} ms{growth:>14.2f}×")
    kept = solve <= BUDGET_S and growth <= BUDGET_GROWTH
    print(f"wanted: {BUDGET_S:g} s and {BUDGET_GROWTH:g}× at most; {'kept' if kept else 'NOT KEPT'}")


if __name__ == "__main__":
    sys.exit(main())
