"""Each kind of evidence names its cause; what clears a cause clears it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpufabric.diagnosis.diagnose import CAUSES, MOST_CAUSES, diagnose
from gpufabric.records.job_evidence import DescribedJob, FileEvidence, JobEvidence, WhatIf
from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.records.pci_functions import PciFunction, PciFunctions
from gpufabric.records.verdicts import Expectation, SizeVerdict

GB = 1e9
JOB = DescribedJob(
    nodes=4, ranks=32, gpus_per_server=8, nics_per_server=8, nic_bytes_per_s=50 * GB, network="infiniband",
    routing="adaptive", oversubscription=1.0, switches_crossed=True, rank_order="fabric", scale_up="switched",
    multicast=False, library="nccl 2.27", algorithm="ring", protocol="simple", bottleneck="", attainable_bytes_per_s=0.0,
)  # fmt: skip


def evidence(share=0.5, verdict="low", job=JOB, files=None, **more):
    e = Expectation(1 << 33, 360 * GB, 320 * GB, 400 * GB, 250 * GB, 420 * GB, 420 * GB, "NICs")
    measured = share * 360 * GB
    best = SizeVerdict(9, 1 << 33, False, measured, e, verdict, share - 1)
    rows = (MeasuredRow(9, 1 << 33, 0.05, measured / 1.94, measured, False, 0),)
    hosts = tuple((f"n{i}", 8) for i in range(4))
    table = MeasuredTable("all_reduce", "float", "sum", -1, 32, hosts, "NVIDIA H100", rows)
    return JobEvidence(table, "run.txt", verdict, best, job, files=files or FileEvidence(), **more)


def ids(said):
    return [cause.id for cause in diagnose(said)]


def pci(kind="nic", lanes=16, capable=16, acs=None, bus="18:00.0", now=32e9):
    return PciFunction(bus, kind, "", 32e9, capable, now, lanes, acs, 0, 3)


def test_a_healthy_log_with_no_other_file_names_nothing_wrong():
    assert ids(evidence(0.95, "healthy")) == []
    assert ids(evidence(1.0, "healthy")) == ["at-the-ceiling"]


@pytest.mark.parametrize(
    ("ranks", "groups", "named"), [(8, 1, True), (4, 2, True), (32, 1, False), (8, 4, False)]
)
def test_few_ranks_are_named_only_where_all_are_listed(ranks, groups, named):
    said = evidence(0.2)
    hosts = tuple((f"n{i}", 2) for i in range(4))
    said = replace(said, table=replace(said.table, hosts=hosts, ranks=ranks, groups=groups))
    assert ("few-gpus-per-server" in ids(said)) == named


def test_causes_are_ranked_and_bounded():
    for share in (0.02, 0.1, 0.3, 0.5, 0.7):
        said = diagnose(evidence(share))
        assert [c.confidence for c in said] == sorted((c.confidence for c in said), reverse=True)
        assert len(said) <= MOST_CAUSES
        assert all(0 < c.confidence <= 1 and c.evidence and c.next and c.id in CAUSES for c in said)


def test_a_rate_alone_never_makes_sure():
    for share in (0.02, 0.125, 0.25, 0.5, 0.75):
        assert all(c.confidence < 0.5 for c in diagnose(evidence(share)))


@pytest.mark.parametrize(("share", "used"), [(0.125, 1), (0.25, 2), (0.375, 3)])
def test_a_share_of_the_nics_is_recognised(share, used):
    said = next(c for c in diagnose(evidence(share)) if c.id == "nics-unused")
    assert said.cause == f"only {used} of 8 NICs of a server may carry traffic"


def test_a_card_in_a_narrow_slot_is_no_fault():
    slot = pci("bridge", 8, 8, bus="17:00.0")
    files = FileEvidence(pci=(PciFunctions(functions=(slot, pci(lanes=8))),))
    assert "pcie-reduced" not in ids(evidence(files=files))
    wide = FileEvidence(pci=(PciFunctions(functions=(pci("bridge", bus="17:00.0"), pci(lanes=8))),))
    assert ids(evidence(files=wide))[0] == "pcie-reduced"


def test_an_idle_gpu_lowers_its_speed_and_is_no_fault():
    files = FileEvidence(pci=(PciFunctions(functions=(pci("gpu", now=2.5e9),)),))
    assert "pcie-reduced" not in ids(evidence(files=files))


def test_acs_that_is_off_is_no_cause():
    off = FileEvidence(pci=(PciFunctions(functions=(pci("bridge", acs=False),)),))
    on = FileEvidence(pci=(PciFunctions(functions=(pci("bridge", acs=True),)),))
    assert "acs-on" not in ids(evidence(files=off))
    assert ids(evidence(files=on))[0] == "acs-on"


def test_settings_of_files_are_looked_at():
    files = FileEvidence(settings={"NCCL_IB_HCA": ("mlx5_0,mlx5_1", "run.sh:3")})
    said = diagnose(evidence(0.25, files=files))[0]
    assert (said.id, said.evidence.split(":")[0]) == ("nics-unused", "run.sh")


def test_what_a_setting_explains_needs_no_other_cause():
    settings = FileEvidence(settings={"NCCL_IB_HCA": ("mlx5_0", "run.sh:3")})
    plain, explained = (
        evidence(0.12, files=settings, configured_bytes_per_s=c) for c in (0.0, 0.125 * 360 * GB)
    )
    assert "gpudirect-off" in ids(plain)
    assert "gpudirect-off" not in ids(explained)


def test_a_log_of_several_servers_beside_it_clears_what_all_have():
    alone, beside = ids(evidence(0.45)), ids(evidence(0.45, reference="other.txt"))
    assert alone[0] == "gpudirect-off"
    assert beside[0] == "oversubscription"


def test_a_what_if_that_fits_raises_its_cause():
    fits = (WhatIf("oversubscription", "a shuffled order", 0.5 * 360 * GB),)
    plain, fitting = evidence(0.5), evidence(0.5, what_ifs=fits)

    def sure(said):
        return next(c.confidence for c in diagnose(said) if c.id == "oversubscription")

    assert sure(fitting) > sure(plain)


def test_nothing_is_guessed_about_a_network_inside_one_server():
    inside = replace(JOB, nodes=1, nics_per_server=0, nic_bytes_per_s=0.0, network="", switches_crossed=False)
    assert set(ids(evidence(0.5, job=inside))) <= {"p2p-off"}


def test_every_cause_has_a_page():
    folder = Path(__file__).parents[3] / "docs" / "causes"
    assert [name for name in CAUSES if not (folder / f"{name}.md").exists()] == []
