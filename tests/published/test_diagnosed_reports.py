"""Reports whose cause is stated: it is among the first three that we name in at least four of five."""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path

import pytest

from gpufabric.diagnosis.diagnose import CAUSES
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.nccl_tests_write import write_nccl_tests
from gpufabric.jobs.check import check
from gpufabric.records.bus_factor_table import BUS_FACTORS

HERE = Path(__file__).parent
REPORTS = tomllib.loads((HERE / "diagnosed_reports.toml").read_text(encoding="utf-8"))["report"]
GB = 1e9
#: Reports with a stated cause whose facts hold nothing to hand in: see the data file.
WITHOUT_FIGURES = 2
PERFTEST = """---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF		Device         : mlx5_0
 Number of qps   : 1		Transport type : IB
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             {rate:.2f}             {rate:.2f}              0.343
---------------------------------------------------------------------------------------
"""


def table_text(report, rows, host="node"):
    ranks = sum(report["hosts"])
    scale, depends = BUS_FACTORS[report["op"]]
    factor = scale * (ranks - 1) / ranks if depends else scale
    hosts = [(f"{host}{i:02d}", count) for i, count in enumerate(report["hosts"])]
    times = [(size, size * factor / (rate * GB)) for size, rate in rows]
    return write_nccl_tests(report["op"], hosts, report["gpu"] or "GPU", times)


def files_of(report):
    """Return the files that a reporter would hand in."""
    if "captured" in report:
        return [HERE.parent / "captured" / report["captured"]]
    texts = [report.get("command", "") + "\n" + table_text(report, report["busbw"])]
    texts += [table_text(report, report["beside"], "other")] if "beside" in report else []
    texts += [report["evidence"].lstrip()] if "evidence" in report else []
    texts += [PERFTEST.format(rate=report["perftest_gbps"])] if "perftest_gbps" in report else []
    return [io.BytesIO(text.encode()) for text in texts]


def named(report):
    """Return the ids of the three causes that are named first."""
    result = check(parse_cluster_spec(report["spec"], report["id"]), files_of(report))
    return [cause.id for cause in result.verdicts[0].causes[:3]]


@pytest.mark.slow
def test_the_stated_cause_is_among_the_first_three_in_four_of_five(capsys):
    found = {report["id"]: named(report) for report in REPORTS}
    hit = {r["id"]: bool(set(r["cause"]) & set(found[r["id"]])) for r in REPORTS}
    with capsys.disabled():
        for report in REPORTS:
            mark = "yes" if hit[report["id"]] else "NO "
            sys.stdout.write(f"{mark} {report['id']}: {'/'.join(report['cause'])} in {found[report['id']]}\n")
        sys.stdout.write(f"{sum(hit.values())} of {len(hit)}\n")
    assert sum(hit.values()) >= 0.8 * (len(hit) + WITHOUT_FIGURES)


def test_every_report_names_its_source_and_known_causes():
    assert all(report["url"].startswith("https://") and report["stated"] for report in REPORTS)
    assert {cause for report in REPORTS for cause in report["cause"]} <= set(CAUSES)
