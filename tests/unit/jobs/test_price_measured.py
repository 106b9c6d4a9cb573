from pathlib import Path

import pytest

from gpufabric.catalog.measurements import COLLECTIVES
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.formats.measured_collectives_csv import read_measured_collectives
from gpufabric.jobs.measured_runs import wire_spec
from gpufabric.jobs.price_measured import MeasuredJob, price_measured
from gpufabric.records.measured_collective import LeftOut

MEASURED = Path(__file__).parents[2] / "captured" / "measurements" / "measured.csv"


@pytest.fixture(scope="module")
def priced():
    return list(price_measured(read_measured_collectives(MEASURED).rows, MEASURED.parent))


def test_rows_of_one_job_are_priced_once(priced):
    jobs = [job for job in priced if isinstance(job, MeasuredJob)]
    assert [[row.id for row in job.rows] for job in jobs] == [
        ["a-1"],
        ["a-2"],
        ["a-3"],
        ["b-1", "b-2", "b-3"],
        ["b-4"],
        ["c-1"],
    ]
    assert {row.id for row in priced if isinstance(row, LeftOut)} == {"c-4", "c-5", "c-6"}


def test_only_what_the_settings_allow_may_have_run(priced):
    first, second = priced[0], priced[1]
    assert {one.algorithm for one, _ in first.candidates} == {"ring"}
    assert {"ring", "tree"} <= {one.algorithm for one, _ in second.candidates}
    assert not first.nics_matter
    assert second.nics_matter


def test_a_known_cluster_stands_for_what_the_rows_name(priced):
    rows = read_measured_collectives(MEASURED).rows[:1]
    (job,) = price_measured(rows, Path("nowhere"), wire_spec(preset_spec("superpod-b200")))
    assert job.situation.gpu == "b200-sxm"


@pytest.mark.slow
def test_every_shipped_row_can_be_priced():
    table = read_measured_collectives(COLLECTIVES)
    found = list(price_measured(table.rows, COLLECTIVES.parent))
    assert [row for row in found if isinstance(row, LeftOut)] == []
    assert sum(len(job.rows) for job in found) == len(table.rows)
