"""Published measurements of healthy clusters are not called low, each predicted with constants fitted without its cluster."""

from __future__ import annotations

import sys

import pytest

from gpufabric.catalog.calibrations import fitted_clusters, load_collective_calibration
from gpufabric.catalog.measurements import COLLECTIVES
from gpufabric.formats.measured_collectives_csv import read_measured_collectives
from gpufabric.jobs.measured_runs import runs_of
from gpufabric.jobs.predict_measured import PredictedRow, predict_rows
from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.rules.measured_busbw import MIN_BYTES, check, expectation


def verdicts():
    """Yield cluster and verdict of each run of the shipped table that is large enough to be judged."""
    table = read_measured_collectives(COLLECTIVES)
    known = set(fitted_clusters())

    def calibration_of(cluster):
        return load_collective_calibration(cluster if cluster in known else "")

    for measured in runs_of(table.rows).values():
        rows = [r for r in measured if r.size_bytes >= MIN_BYTES and r.nics_known and r.rounding <= 0.05]
        predicted = [
            p for p in predict_rows(rows, COLLECTIVES.parent, calibration_of) if isinstance(p, PredictedRow)
        ]
        if not predicted:
            continue
        expected = {p.row.size_bytes: expectation(p.result) for p in predicted}
        seen = {p.row.size_bytes: p.row for p in predicted}
        halves = tuple(
            MeasuredRow(r.line, size, r.time_s, size / r.time_s, r.busbw_bytes_per_s, False, 0)
            for size, r in sorted(seen.items())
        )
        first = predicted[0].row
        said = MeasuredTable(first.op, "float", "sum", -1, first.gpus, (), "", halves)
        yield first.cluster, first.op, check(said, expected, file=first.cluster)[0].verdict


@pytest.mark.slow
def test_at_most_one_healthy_measurement_in_twenty_is_called_low(capsys):
    found = list(verdicts())
    low = [one for one in found if one[2] == "low"]
    clusters = {cluster for cluster, _, _ in found}
    weight = {cluster: sum(one[0] == cluster for one in found) for cluster in clusters}
    share = sum(1 / weight[cluster] for cluster, _, _ in low) / len(clusters)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(low)} of {len(found)} runs of {len(clusters)} clusters low; one vote a cluster: {share:.1%}\n"
        )
        sys.stdout.writelines(f"  {cluster} {op}\n" for cluster, op, _ in low)
    assert share <= 0.05
