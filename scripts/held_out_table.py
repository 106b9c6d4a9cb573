"""Measured rows and what was expected of them without their cluster → errors, ranges and the printed table."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.records.calibration import LARGE_BYTES, ResidualRange
from measured_rows import MeasuredRow
from model_of_time import BANDS, BELIEVED, Floats

LEVELS = (0.10, 0.90, 0.975)
#: Student's t over the normal quantile at 90 % by degrees of freedom, from any table of it.
STUDENT_RATIO = {1: 3.078 / 1.2816, 2: 1.886 / 1.2816, 3: 1.638 / 1.2816, 4: 1.533 / 1.2816}
FEW = 5
Range = tuple[float, float, float]


@dataclass(frozen=True)
class Judged:
    """Rows with the seconds expected without their cluster, with it, and the candidate that was expected to run."""

    rows: list[MeasuredRow]
    expected: Floats
    in_sample: Floats
    picks: NDArray[np.object_]

    def bands(self) -> NDArray[np.str_]:
        return np.array([band_name(row) for row in self.rows])

    def error(self, expected: Floats) -> Floats:
        """Return predicted / measured - 1: of the time of small messages, of the bus bandwidth of large ones."""
        measured = np.array([row.time_s for row in self.rows])
        large = np.array([row.size_bytes >= LARGE_BYTES for row in self.rows])
        return np.where(large, measured / expected, expected / measured) - 1

    def log_residual(self) -> Floats:
        return np.log(np.array([row.time_s for row in self.rows]) / self.expected)


def band_name(row: MeasuredRow) -> str:
    size = "small" if row.size_bytes <= 1 << 16 else "middle" if row.size_bytes < LARGE_BYTES else "large"
    return f"{'one-node' if row.situation.nodes < 2 else 'several-nodes'}-{size}"


def classes_of(row: MeasuredRow) -> tuple[str, ...]:
    network = BELIEVED.network_of(row.situation)
    return tuple(filter(None, (BELIEVED.scale_up_of(row.situation), network)))


def class_clusters(rows: list[MeasuredRow]) -> dict[str, tuple[str, ...]]:
    """Return each class's clusters, those with rows that count."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.situation.nodes == 1 or row.known:
            for name in classes_of(row):
                found[name].add(row.cluster)
    return {name: tuple(sorted(clusters)) for name, clusters in found.items()}


def alone(rows: list[MeasuredRow]) -> NDArray[np.bool_]:
    """Return which rows have a class that no other cluster has: left out, they are rows of a class without data."""
    known = class_clusters(rows)
    return np.array([any(set(known.get(c, ())) <= {row.cluster} for c in classes_of(row)) for row in rows])


def quantiles(values: Floats, cluster: NDArray[np.str_]) -> Range:
    """Return the quantiles at ``LEVELS`` with one vote per cluster.

    The next cluster is one of k + 1, so the levels of k clusters are stretched by (k + 1) / k, as conformal prediction does
    (Vovk, Gammerman, Shafer 2005); below ``FEW`` clusters Student's t widens them further.
    """
    counts = Counter(cluster)
    order = np.argsort(values)
    weight = np.array([1 / counts[c] for c in cluster])[order]
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    stretch = (len(counts) + 1) / len(counts)
    levels = [1 - min(1.0, (1 - LEVELS[0]) * stretch), *(min(1.0, level * stretch) for level in LEVELS[1:])]
    low, high, slow = (float(q) for q in np.interp(levels, middle, values[order]))
    wider = STUDENT_RATIO[max(len(counts) - 1, 1)] if len(counts) < FEW else 1.0
    return min(low, 0.0) * wider, max(high, 0.0) * wider, max(slow, high, 0.0) * wider


def ranges_of(judged: Judged, without: str = "") -> dict[str, ResidualRange]:
    """Return the ranges of all bands; *without* leaves a cluster's own errors out of them."""
    residual, bands, lonely = judged.log_residual(), judged.bands(), alone(judged.rows)
    cluster = np.array([row.cluster for row in judged.rows])
    counted = np.array([row.known or row.situation.nodes == 1 for row in judged.rows])
    counted &= np.array([row.known for row in judged.rows]) & (cluster != without)
    found: dict[str, ResidualRange] = {}
    for band in BANDS:
        here = counted & (bands == band)
        usual = here & ~lonely
        low, high, slow = quantiles(residual[usual], cluster[usual])
        every = quantiles(residual[here], cluster[here])
        new = [min(1.25 * low, every[0]), max(1.25 * high, every[1]), max(1.25 * slow, every[2])]
        if (here & lonely).any():
            own = quantiles(residual[here & lonely], cluster[here & lonely])
            new = [min(new[0], own[0]), max(new[1], own[1]), max(new[2], own[2])]
        found[band] = ResidualRange(
            low=round(low, 4),
            high=round(high, 4),
            slow=round(slow, 4),
            new_low=round(new[0], 4),
            new_high=round(new[1], 4),
            new_slow=round(new[2], 4),
            clusters=len(set(cluster[usual])),
            rows=int(usual.sum()),
        )
    return found


def inside_range(judged: Judged) -> NDArray[np.bool_]:
    """Return which rows lie in the range that the other clusters' errors give."""
    residual, bands, lonely = judged.log_residual(), judged.bands(), alone(judged.rows)
    cluster = np.array([row.cluster for row in judged.rows])
    inside = np.zeros(len(residual), dtype=bool)
    for name in set(cluster):
        ranges = ranges_of(judged, name)
        for i in np.flatnonzero(cluster == name):
            known = ranges[bands[i]]
            wide = lonely[i] or not judged.rows[i].known
            low, high = (known.new_low, known.new_high) if wide else (known.low, known.high)
            inside[i] = low <= residual[i] <= high
    return inside


def print_table(judged: Judged) -> None:
    """Print a line a cluster and band, and the median and 90 % quantile over clusters of their median absolute errors.

    A cluster counts where its class (the column hw_class) has another cluster in the band and its rows are known.
    """
    error, own = judged.error(judged.expected), judged.error(judged.in_sample)
    bands, inside = judged.bands(), inside_range(judged)
    cluster = np.array([row.cluster for row in judged.rows])
    known = np.array([row.known for row in judged.rows])
    operation = np.array([row.op for row in judged.rows])
    kinds = {row.cluster: row.hw_class for row in judged.rows}
    coverage: list[float] = []
    middle: dict[str, float] = {}
    for band in BANDS:
        print(
            f"\n{band}: rows, class, cluster, median |error|, bias, (with it in the fit), inside range, expected to run"
        )
        medians: dict[str, float] = {}
        for name in sorted(set(cluster[bands == band])):
            here = (bands == band) & (cluster == name) & known
            if band == "several-nodes-large":
                here &= operation == "all_reduce"
            if not here.any():
                here = (bands == band) & (cluster == name)
                print(f"  {'unknown':8}", end="")
            else:
                medians[name] = float(np.median(np.abs(error[here])))
                coverage.append(float(inside[here].mean()))
                print(f"  {here.sum():8d}", end="")
            picked = Counter(judged.picks[here]).most_common(1)[0][0]
            print(
                f" {kinds[name]:13} {name:18} {np.median(np.abs(error[here])):6.3f} {np.median(error[here]):+7.3f}"
                f" ({np.median(np.abs(own[here])):.3f}) {inside[here].mean():5.2f} {picked}"
            )
        _print_summary(medians, kinds)
        middle |= _middle_of(judged, error) if band == "several-nodes-middle" else {}
    print("\nmiddle sizes, one node and several together:")
    _print_summary(middle, kinds)
    print(f"\ninside the 80 % range, one vote per cluster and band: {np.mean(coverage):.3f}")


def _middle_of(judged: Judged, error: Floats) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for row, one in zip(judged.rows, error, strict=True):
        if row.known and band_name(row).endswith("middle"):
            found[row.cluster].append(abs(float(one)))
    return {name: float(np.median(values)) for name, values in found.items()}


def _print_summary(medians: dict[str, float], kinds: dict[str, str]) -> None:
    peers = Counter(kinds[name] for name in medians)
    counted = {name: value for name, value in medians.items() if peers[kinds[name]] > 1}
    for text, chosen in (("classes with two clusters or more", counted), ("all clusters", medians)):
        if chosen:
            values = list(chosen.values())
            print(
                f"  {text}: {len(values)}, median {np.median(values):.4f}, p90 {np.quantile(values, 0.9):.4f}"
            )
    by_class = {
        kind: [value for name, value in medians.items() if kinds[name] == kind] for kind in sorted(peers)
    }
    print(
        "  "
        + ", ".join(f"{kind} {np.median(values):.3f} ({len(values)})" for kind, values in by_class.items())
    )
