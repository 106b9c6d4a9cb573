"""Table of published all-reduce measurements → catalog/calibrations/ring_wide.toml.

Run: ``python scripts/fit_wide_range.py COLLECTIVES.csv``. The table has one row a measurement with the
columns named in ``NEEDED``; it stays outside the repository, the figures that come out of it and the sources
of its rows go in.

What is fitted: measured bus bandwidth / line rate of a ring. Inside one scale-up domain (``scale-up``) the line rate is
the scale-up rate of one GPU; over several (``scale-out``) it is the rate of all NICs of a domain, or the scale-up rate
where that is less. Rows stay out when they lack a column or when that formula does not hold for them (``left_out`` of
the result counts them with the reason).
"""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpufabric.units import format_message_bytes, from_gigabytes, from_microseconds, parse_rate

OUTPUT = Path(__file__).parents[1] / "src/gpufabric/catalog/calibrations/ring_wide.toml"
NEEDED = (
    "cluster", "kind", "source", "source_ref", "gpus_per_node", "scale_up", "scale_up_GBps_per_gpu_dir",
    "nics_per_node", "nic_Gbps", "nodes", "gpus", "collective", "bytes", "time_us", "busbw_GBps",
)  # fmt: skip
MIB = 1 << 20
BANDS = ((256 * MIB, None), (16 * MIB, 256 * MIB), (MIB, 16 * MIB), (1, MIB))
LEVELS = (0.025, 0.10, 0.50, 0.90, 0.975)
FEW = 5
#: Student's t at 90 % and 97.5 % by degrees of freedom, from any table of it.
STUDENT_T = {1: (3.078, 12.706), 2: (1.886, 4.303), 3: (1.638, 3.182)}
NVL72_SERVERS = 18
HEAD = f"""\
# Written by scripts/fit_wide_range.py; do not edit.
# Measured all_reduce bus bandwidth / line-rate bus bandwidth of a ring, over clusters of all kinds.
# Each cluster has one vote: its rows weigh 1 / their number. Wide on purpose: it knows neither the
# library's version and settings nor the health of the clusters. A band with fewer than {FEW} clusters is
# widened: Student's t on the logarithms, with at least the spread between clusters of both limits.

"""


class LeftOutError(Exception):
    """Why a row can't be used."""


@dataclass(frozen=True)
class Ratio:
    """One usable row."""

    cluster: str
    limit: str
    size_bytes: int
    ratio: float
    source: tuple[str, str]


def number(row: dict[str, str], column: str) -> float:
    try:
        return float(row[column])
    except ValueError:
        raise LeftOutError(f"no {column}") from None


def line_rate(row: dict[str, str]) -> tuple[str, float]:
    """Return whether a ring leaves its scale-up domain, and its line-rate bus bandwidth in bytes/s."""
    servers, gpus, local = (int(number(row, c)) for c in ("nodes", "gpus", "gpus_per_node"))
    if "PCIe" in row["scale_up"] or not row["scale_up"]:
        raise LeftOutError("no scale-up links")
    scale_up = from_gigabytes(number(row, "scale_up_GBps_per_gpu_dir"))
    domain = NVL72_SERVERS if "NVL72" in row["scale_up"] else 1
    if servers <= domain:
        switched = "NVSwitch" in row["scale_up"].replace("no NVSwitch", "") or domain > 1
        if not switched and gpus < local:
            raise LeftOutError("part of a mesh of direct links")
        return "scale-up", scale_up
    if gpus != servers * local:
        raise LeftOutError("several servers used in part")
    per_server = number(row, "nics_per_node") * parse_rate(f"{number(row, 'nic_Gbps'):g} Gb/s")
    scale_out = per_server * servers / math.ceil(servers / domain)
    return "scale-out", min(scale_up, scale_out)


def ratio_of(row: dict[str, str]) -> Ratio:
    if row["collective"] != "all_reduce" or row["kind"] != "measured":
        raise LeftOutError("not a measured all_reduce")
    limit, rate = line_rate(row)
    size, gpus = int(number(row, "bytes")), int(number(row, "gpus"))
    if size < 1 or gpus < 2:
        raise LeftOutError("no transfer")
    # The printed busbw of a small message has one or two digits, its time has four.
    if row["time_us"]:
        busbw = size / from_microseconds(number(row, "time_us")) * 2 * (gpus - 1) / gpus
    else:
        busbw = from_gigabytes(number(row, "busbw_GBps"))
    if busbw <= 0:
        raise LeftOutError("busbw is zero")
    return Ratio(row["cluster"], limit, size, busbw / rate, (row["source"], row["source_ref"]))


def weighted_quantiles(values: list[float], weights: list[float]) -> list[float]:
    """Quantiles of a weighted sample: midpoints of the cumulative weights, linear between them."""
    order = np.argsort(values)
    x, w = np.asarray(values)[order], np.asarray(weights)[order]
    middle = (np.cumsum(w) - w / 2) / w.sum()
    return [float(q) for q in np.interp(LEVELS, middle, x)]


def widened(rows: list[Ratio], spread: float) -> list[float]:
    """Prediction interval for a new cluster from a few: Student's t on the logarithms of the clusters' medians.

    ``spread``, between the clusters of both limits, is the least that is assumed.
    """
    logs = np.array(
        [np.median([math.log(r.ratio) for r in rows if r.cluster == c]) for c in {r.cluster for r in rows}]
    )
    count = len(logs)
    deviation = max(spread, float(np.std(logs, ddof=1)) if count > 1 else 0.0)
    t90, t975 = STUDENT_T[max(count - 1, 1)]
    step = deviation * math.sqrt(1 + 1 / count)
    return [float(math.exp(np.median(logs) + t * step)) for t in (-t975, -t90, 0.0, t90, t975)]


def spread_between_clusters(rows: list[Ratio]) -> float:
    medians = [
        np.median([math.log(r.ratio) for r in rows if r.cluster == c]) for c in {r.cluster for r in rows}
    ]
    return float(np.std(medians, ddof=1))


def range_text(limit: str, band: tuple[int, int | None], ratios: list[Ratio]) -> str:
    low, high = band
    rows = [
        r
        for r in ratios
        if r.limit == limit and r.size_bytes >= low and (high is None or r.size_bytes < high)
    ]
    clusters = Counter(r.cluster for r in rows)
    if not rows:
        return ""
    few = len(clusters) < FEW
    if few:
        same_band = [r for r in ratios if r.size_bytes >= low and (high is None or r.size_bytes < high)]
        quantiles = widened(rows, spread_between_clusters(same_band))
    else:
        quantiles = weighted_quantiles([r.ratio for r in rows], [1 / clusters[r.cluster] for r in rows])
    upper = f"max_bytes = {high}  # below {format_message_bytes(high)}\n" if high else ""
    return (
        f'\n[[ranges]]\nlimit = "{limit}"\nmin_bytes = {low}  # from {format_message_bytes(low)}\n{upper}'
        f"clusters = {len(clusters)}\nrows = {len(rows)}\nwidened = {str(few).lower()}\n"
        f"quantiles = [{', '.join(f'{q:.4g}' for q in quantiles)}]\n"
    )


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def source_text(title: str, where: str) -> str:
    """Return a source's table; *where* is ``address@commit file`` with the last two optional."""
    address, _, place = where.partition(" ")
    url, _, commit = address.partition("@")
    fields = {"title": title, "url": url, "commit": commit, "place": place}
    return "\n[[sources]]\n" + "".join(f"{key} = {quoted(value)}\n" for key, value in fields.items() if value)


def document(ratios: list[Ratio], left_out: Counter[str]) -> str:
    levels = ", ".join(f"{level:g}" for level in LEVELS)
    sources = sorted({r.source for r in ratios})
    head = (
        f"{HEAD}"
        'name = "ring-wide"\nscript = "scripts/fit_wide_range.py"\n'
        f"levels = [{levels}]\n"
        f"clusters = {len({r.cluster for r in ratios})}\nrows = {len(ratios)}\n\n[left_out]\n"
    )
    reasons = "".join(f"{quoted(reason)} = {count}\n" for reason, count in sorted(left_out.items()))
    ranges = "".join(range_text(limit, band, ratios) for limit in ("scale-up", "scale-out") for band in BANDS)
    named = "".join(source_text(title, where) for title, where in sources)
    return head + reasons + ranges + named


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: fit_wide_range.py COLLECTIVES.csv", file=sys.stderr)
        return 2
    ratios: list[Ratio] = []
    left_out: Counter[str] = Counter()
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        missing = [c for c in NEEDED if c not in (table.fieldnames or ())]
        if missing:
            print(f"{sys.argv[1]}: columns are missing: {', '.join(missing)}", file=sys.stderr)
            return 2
        for row in table:
            try:
                ratios.append(ratio_of(row))
            except LeftOutError as reason:
                left_out[str(reason)] += 1
    OUTPUT.write_text(document(ratios, left_out), encoding="utf-8")
    print(f"{len(ratios)} rows of {len({r.cluster for r in ratios})} clusters → {OUTPUT.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
