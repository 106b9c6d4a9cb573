"""Measured rows and what was expected of them without their cluster → errors, ranges and the printed table."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpufabric.jobs.summarise_errors import bar_of, bars, summarise, without_lonely_classes
from gpufabric.jobs.validate_collectives import MOST_ROUNDING
from gpufabric.libraries.times_to_range import log_limits
from gpufabric.records.calibration import BAND_CENTRES_BYTES, LARGE_BYTES, ResidualRange, size_band
from gpufabric.records.validation import ValidatedRow
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
    return f"{_nodes_name(row)}-{size_band(row.size_bytes)}"


def _nodes_name(row: MeasuredRow) -> str:
    return "one-node" if row.situation.nodes < 2 else "several-nodes"


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


def quantiles(values: Floats, cluster: NDArray[np.str_], stretched: bool = False) -> Range:
    """Return the quantiles at ``LEVELS`` with one vote per cluster; below ``FEW`` clusters Student's t widens them.

    *stretched* is for what no cluster stands for: the next one is one of k + 1, so the levels of k are stretched by
    (k + 1) / k, as conformal prediction does (Vovk, Gammerman, Shafer 2005).
    """
    counts = Counter(cluster)
    order = np.argsort(values)
    weight = np.array([1 / counts[c] for c in cluster])[order]
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    stretch = (len(counts) + 1) / len(counts) if stretched else 1.0
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
        every = quantiles(residual[here], cluster[here], stretched=True)
        new = [min(1.25 * low, every[0]), max(1.25 * high, every[1]), max(1.25 * slow, every[2])]
        if (here & lonely).any():
            own = quantiles(residual[here & lonely], cluster[here & lonely], stretched=True)
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
    residual, lonely = judged.log_residual(), alone(judged.rows)
    cluster = np.array([row.cluster for row in judged.rows])
    inside = np.zeros(len(residual), dtype=bool)
    for name in set(cluster):
        ranges = ranges_of(judged, name)
        for i in np.flatnonzero(cluster == name):
            row = judged.rows[i]
            bands = [ranges[f"{_nodes_name(row)}-{band}"] for band in BAND_CENTRES_BYTES]
            wide = bool(lonely[i]) or not row.known
            low, high, _ = log_limits(bands, np.array([float(row.size_bytes)]), wide)[:, 0]
            inside[i] = low <= residual[i] <= high
    return inside


def validated_rows(judged: Judged) -> list[ValidatedRow]:
    """Return the rows as ``gpufabric validate`` has them, those that do not count marked by the same rules."""
    error, inside = judged.error(judged.expected), inside_range(judged)
    rows = []
    for i, row in enumerate(judged.rows):
        large = row.size_bytes >= LARGE_BYTES
        rounded = "too few digits" if row.rounding > MOST_ROUNDING else ""
        algorithm, _, protocol = str(judged.picks[i]).partition("/")
        rows.append(
            ValidatedRow(
                id="",
                cluster=row.cluster,
                fold=row.cluster,
                hw_class=row.hw_class,
                op=row.op,
                nodes=row.servers,
                gpus=row.situation.ranks,
                size_bytes=row.size_bytes,
                quantity="busbw_bytes_per_s" if large else "time_s",
                unit="1",
                predicted=1 + float(error[i]),
                low=0.0 if inside[i] else 2.0,
                high=2.0,
                measured=1.0,
                error=float(error[i]),
                algorithm=algorithm,
                protocol=protocol,
                in_fit=False,
                not_counted=rounded if row.known else "NICs are not known",
            )
        )
    return without_lonely_classes(rows)


def print_table(judged: Judged) -> None:
    """Print a line a bar and cluster, and each bar's figures over the rows that count, as ``gpufabric validate`` has them."""
    rows = validated_rows(judged)
    own = judged.error(judged.in_sample)
    for bar in bars([row for row in rows if not row.not_counted]):
        print(
            f"\n{bar.name}: rows, class, cluster, median |error|, bias, (with it in the fit), inside range, expected to run"
        )
        here = [i for i, row in enumerate(rows) if bar_of(row) == bar.name]
        for hw_class, name in sorted({(rows[i].hw_class, rows[i].fold) for i in here}):
            mine = [i for i in here if rows[i].fold == name]
            found = summarise(rows[i] for i in mine)
            picked = Counter(f"{rows[i].algorithm}/{rows[i].protocol}" for i in mine).most_common(1)[0][0]
            counted = sum(not rows[i].not_counted for i in mine)
            print(
                f"  {counted:3d} of {len(mine):3d} {hw_class:13} {name:18} {found.median_abs_error:6.3f} {found.bias:+7.3f}"
                f" ({np.median(np.abs(own[mine])):.3f}) {found.inside_range:5.2f} {picked}"
            )
        got = bar.summary
        if got.clusters:
            print(
                f"  {got.clusters} clusters count: median {got.median_abs_error:.4f} (at most {bar.limit}), "
                f"p90 {got.p90_abs_error:.4f}, bias {got.bias:+.4f}, inside range {got.inside_range:.3f}"
            )
    every = summarise(row for row in rows if not row.not_counted)
    print(f"\nall that count: {every.clusters} clusters, inside the 80 % range {every.inside_range:.3f}")
