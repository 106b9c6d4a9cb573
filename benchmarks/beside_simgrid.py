"""The same flows by gpufabric's fluid simulation and by SimGrid, in one run: times, ratios, and how far the answers differ.

Needs Debian's python3-simgrid. SimGrid's platform is made before its clock starts, and so is gpufabric's graph; both are shown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

from fabric_flows import HOST, Messages, all_to_all, random_permutation, three_tier_text
from gpufabric.simulators import fluid

PROGRAM = Path(__file__).parents[1] / "tests" / "real" / "simgrid_flows.py"
REPEATS = 5
# Flows, the largest size over the smallest, how many times as fast as SimGrid it is to be, and in how many seconds at most.
CASES = {
    "permutation, 4,096 flows": (lambda: random_permutation(three_tier_text(4096)), 1.0, 10, None),
    "its sizes all different": (lambda: random_permutation(three_tier_text(4096)), 10.0, None, None),
    "all-to-all, 32 hosts, mixed": (lambda: all_to_all(three_tier_text(32, HOST, 1)), 10.0, 5, None),
    "all-to-all, 128 hosts": (lambda: all_to_all(three_tier_text(128, HOST, 1)), 1.0, 20, None),
    "all-to-all, 512 hosts": (lambda: all_to_all(three_tier_text(512, HOST, 1)), 1.0, None, 2.0),
}


def by_simgrid(messages: Messages, size: np.ndarray, timeout_s: float) -> dict:
    """Return what SimGrid says, and its times; raises subprocess.TimeoutExpired."""
    flows = messages.flows
    used, link = np.unique(flows.link, return_inverse=True)
    asked = {
        "bytes_per_s": messages.graph.bytes_per_s[used].tolist(),
        "paths": [link[a:b].tolist() for a, b in zip(flows.first[:-1], flows.first[1:], strict=True)],
        "bytes": size.tolist(),
        "start_s": [0.0] * flows.count,
    }
    done = subprocess.run(
        ["/usr/bin/python3", PROGRAM],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        timeout=timeout_s,
    )
    return json.loads(done.stdout)


def main() -> None:
    """Run every case and print a row."""
    parser = argparse.ArgumentParser(description="Time gpufabric's fluid simulation beside SimGrid.")
    parser.add_argument("--timeout", type=float, default=200, help="seconds that SimGrid may take for a case")
    options = parser.parse_args()
    print(
        f"{'flows to the last end':<28}{'gpufabric':>12}{'SimGrid':>12}{'platform':>12}{'ratio':>9}  ends differ"
    )
    for name, (make, spread, wanted, most_s) in CASES.items():
        messages = make()
        size = 10.0**10 * np.random.default_rng(0).uniform(1.0, spread, messages.flows.count)
        fluid.run(messages.graph, messages.flows, size)
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            ours = fluid.run(messages.graph, messages.flows, size)
            seconds.append(time.perf_counter() - start)
        row = f"{name:<28}{median(seconds):>10.4f} s"
        limit = "" if most_s is None else f"  ({most_s:g} s at most wanted)"
        try:
            theirs = by_simgrid(messages, size, options.timeout)
        except subprocess.TimeoutExpired:
            print(f"{row}   SimGrid did not end in {options.timeout:g} s{limit}", flush=True)
            continue
        differ = float(np.abs(np.array(theirs["finish_s"]) / ours.finish_s - 1).max())
        ratio = theirs["run_wall_s"] / median(seconds)
        verdict = "" if wanted is None else f"  ({wanted}× wanted)"
        cells = f"{theirs['run_wall_s']:>10.3f} s{theirs['platform_wall_s']:>10.3f} s{ratio:>8.0f}×"
        print(f"{row}{cells}  {differ:.1e}{verdict}{limit}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
