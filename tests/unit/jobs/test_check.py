"""A description and logs → verdicts, on the example logs and captured ones."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec, preset_spec
from gpufabric.jobs.check import check
from gpufabric.jobs.choose_ranks import choose_ranks
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described
from gpufabric.jobs.unused_keys import CHECK
from gpufabric.records.cluster_spec import RankOrder

ROOT = Path(__file__).parents[3]
HEALTHY, SLOW = (ROOT / "examples/logs" / f"b200-128r-{name}.txt" for name in ("healthy", "slow"))
CAPTURED = ROOT / "tests/captured/nccl-tests"


@pytest.fixture(scope="module")
def b200():
    return preset_spec("superpod-b200")


@pytest.fixture(scope="module")
def both(b200):
    return check(b200, [HEALTHY, SLOW])


def test_one_healthy_and_one_slow_log_are_told_apart(both):
    assert [v.verdict for v in both.verdicts] == ["healthy", "low"]
    assert [(f.rule, f.severity) for f in both.findings] == [
        ("measured-busbw-low", "error"),
        ("runs-differ", "info"),
    ]
    assert both.findings[0].where.endswith("b200-128r-slow.txt:152")


def test_every_size_of_the_healthy_log_with_a_narrow_range_is_healthy(both):
    sizes = both.verdicts[0].sizes
    assert {s.verdict for s in sizes if s.size_bytes >= 256 << 20} == {"healthy"}
    assert {s.verdict for s in sizes if s.size_bytes < 256 << 20} <= {"cannot tell", "healthy"}
    # What is shown as healthy is what the prediction says of such a cluster with nothing set.
    assert all(
        s.expected.low_bytes_per_s < s.measured_bytes_per_s < s.expected.high_bytes_per_s for s in sizes
    )
    assert abs(sizes[-1].gap) < 0.03
    assert len(both.verdicts[0].sizes) == 20


def test_numbers_hang_together(both):
    for size in (s for v in both.verdicts for s in v.sizes):
        e = size.expected
        assert e.limit_low_bytes_per_s <= e.low_bytes_per_s <= e.busbw_bytes_per_s <= e.high_bytes_per_s
        assert e.high_bytes_per_s <= e.limit_high_bytes_per_s <= e.ceiling_bytes_per_s
        assert size.gap == pytest.approx(size.measured_bytes_per_s / e.busbw_bytes_per_s - 1)


def test_assumed_placement_is_said(both):
    assert both.assumptions[0].startswith("128 ranks are on the first 16 servers of the description")


def test_document_has_the_fields_that_programs_rely_on(both):
    document = both.to_dict()
    assert set(document) == {"verdicts", "findings", "repairs", "coverage", "assumptions"}
    assert {"what", "verdict", "expected", "found", "causes"} <= set(document["verdicts"][1])
    assert set(document["verdicts"][1]["causes"][0]) == {
        "cause",
        "confidence",
        "evidence",
        "next",
        "id",
    }
    assert document["coverage"]["rows_judged"] == 40
    assert document["coverage"]["lines_not_understood"] == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("without-mpi", "operation is unknown"),
        ("send-recv-cut-in-a-row", "no row is large enough"),
        ("old-error-column", "A100"),
        ("indented-24-ranks", "H200"),
    ],
)
def test_what_can_not_be_judged_says_why(b200, name, words):
    verdict = check(b200, [CAPTURED / f"{name}.txt"]).verdicts[0]
    assert verdict.verdict == "cannot tell"
    assert words in verdict.found


def test_wrong_elements_are_an_error_even_where_the_speed_can_not_be_judged(b200):
    findings = check(b200, [CAPTURED / "wrong-elements.txt"]).findings
    rules = [f.rule for f in findings if f.severity == "error"]
    assert rules.count("measured-wrong-elements") == 2
    assert "measured-gpu-mismatch" in rules


def test_a_log_of_a_larger_cluster(b200):
    small = b200.model_copy(update={"servers": (b200.servers[0].model_copy(update={"count": 8}),)})
    result = check(small, [HEALTHY])
    assert result.verdicts[0].verdict == "cannot tell"
    assert "measured-ranks-mismatch" in [f.rule for f in result.findings]


def test_one_server_is_judged_by_its_scale_up_links(b200):
    rows = (
        f"{1 << p} {1 << p - 2} float sum -1 {t} {b} {b * 1.75} 0 {t} {b} {b * 1.75} 0"
        for p, t, b in _rows(480)
    )
    log = "# all_reduce_perf\n#  Rank  7 Group  0 Pid 1 on h device 7 [0x1] NVIDIA B200\n" + "\n".join(rows)
    verdict = check(b200, [io.BytesIO(log.encode())]).verdicts[0]
    assert verdict.verdict in ("healthy", "cannot tell")
    assert verdict.sizes[-1].expected.busbw_bytes_per_s > 700e9


def test_other_operations_are_judged_too(b200):
    verdict = check(b200, [CAPTURED / "statistics-then-all-gather.txt"]).verdicts[0]
    assert "reduce_scatter over 16 ranks" in verdict.what
    assert verdict.sizes


def _rows(algbw):
    return [(p, f"{2**p / algbw / 1e3:.2f}", algbw) for p in range(28, 34)]


def test_huge_sizes_are_not_predicted(b200):
    log = "# all_reduce_perf\n9223372036854775807 8 float sum -1 1e18 9223.37 17294 0 1e18 9223.37 17294 0\n"
    assert check(b200, [io.BytesIO(log.encode())]).verdicts[0].verdict == "cannot tell"


def test_a_description_of_unknown_servers_is_judged_too():
    text = """
name: tiny
servers: {model: {gpus: 8, nics: 8, nic_rate: 400 Gb/s}, count: 16}
fabrics: {topology: leaf-spine, switch: {ports: 64, rate: 400 Gb/s, network: ethernet}}
"""
    result = check(parse_cluster_spec(text, "tiny.yaml"), [HEALTHY])
    assert result.verdicts[0].verdict == "healthy"


def _changed(b200, **rank_order):
    return b200.model_copy(update={"rank_order": RankOrder(**rank_order)})


def _log(rows, ranks=128):
    factor = 2 * (ranks - 1) / ranks
    lines = [f"# all_reduce_perf\n# Rank {ranks - 1} Group 0 Pid 1 on h device 7 [0x1] NVIDIA B200"]
    for power, busbw, time_is_zero, wrong in rows:
        size, algbw = 1 << power, busbw / factor
        half = f"{size / algbw / 1e3:.1f} {algbw:.2f} {busbw:.2f}"
        first = f"0.00 {algbw:.2f} {busbw:.2f}" if time_is_zero else half
        lines.append(f"{size} {size // 4} float sum -1 {first} {wrong} {half} 0")
    return io.BytesIO("\n".join(lines).encode())


def test_a_slow_log_that_was_cut_is_not_healthy(b200):
    (verdict,) = check(b200, [_log([(p, 87.8, False, 0) for p in range(24, 28)])]).verdicts
    assert verdict.verdict in ("cannot tell", "low")
    assert verdict.sizes[-1].verdict != "healthy"


def test_times_of_0_are_found_and_not_judged(b200):
    result = check(b200, [_log([(p, 350, True, 0) for p in range(30, 34)])])
    assert result.verdicts[0].verdict == "cannot tell"
    assert {s.in_place for s in result.verdicts[0].sizes} == {True}
    assert [f.rule for f in result.findings if f.severity != "info"] == ["measured-row-contradiction"]


def test_wrong_results_are_the_headline(b200):
    result = check(b200, [_log([(p, 350, False, 7 if p == 33 else 0) for p in range(30, 34)])])
    assert result.verdicts[0].verdict == "cannot tell"
    assert result.verdicts[0].found.startswith("the results are wrong")
    assert [f.rule for f in result.findings if f.severity != "info"] == ["measured-wrong-elements"]


THIN = """
name: thin
servers: {model: {gpus: 8, nics: 8, nic_rate: 400 Gb/s}, count: 32}
fabrics:
  topology: leaf-spine
  switch: {ports: 64, rate: 400 Gb/s}
  unit_servers: 4
"""


@pytest.mark.slow
@pytest.mark.parametrize("ecmp", [None, 0, 3])  # 3 hashes worse than 0
def test_what_is_expected_is_what_collective_predicts_of_the_description(ecmp):
    text = THIN if ecmp is None else f"{THIN}  routing: ecmp\n  ecmp: {{seed: {ecmp}}}\n"
    spec = _changed(parse_cluster_spec(text, "thin.yaml"), order="shuffled", seed=3)
    result = check(spec, [HEALTHY])
    assert "shuffled with seed 3" in result.assumptions[0]
    size = 1 << 33
    options = CollectiveOptions(128, "shuffled", 3)
    (predicted,) = predict_described(spec, "all_reduce", [size], options)
    (said,) = {s.expected.busbw_bytes_per_s for s in result.verdicts[0].sizes if s.size_bytes == size}
    assert said == pytest.approx(predicted.busbw_bytes_per_s)


@pytest.mark.slow
def test_a_shuffle_that_costs_bandwidth_lowers_what_is_expected():
    spec = parse_cluster_spec(f'{THIN}  oversubscription: "4:1"\n', "thin.yaml")
    in_order, shuffled = (
        check(s, [_log([(33, 45, False, 0)])]).verdicts[0].sizes[0]
        for s in (spec, _changed(spec, order="shuffled", seed=1))
    )
    assert shuffled.expected.busbw_bytes_per_s < 0.7 * in_order.expected.busbw_bytes_per_s


def test_keys_that_change_nothing_here_are_named():
    text = """
preset: superpod-b200
faults: [{kind: switch-down, where: leaf-1}]
fabrics: {topology: rail-optimized, switch: qm9790, in_network_reduction: true, ecmp: {queue_pairs: 4}}
"""
    notes = check(parse_cluster_spec(text, "c.yaml"), [HEALTHY]).notes
    for key in ("faults", "ecmp.queue_pairs"):
        assert [n for n in notes if key in n.partition(":")[0]], key


def test_what_of_the_description_is_not_acted_on_is_said(b200):
    spec = _changed(b200, ranks=64, placement="fragmented")
    result = check(spec, [HEALTHY])
    assert result.notes[-1] == "rank_order.ranks 64: not used, because a log says how many ranks took part"
    assert result.notes[:-1] == choose_ranks(spec, use=CHECK).notes
    assert "(fabric, fragmented(seed=0))" in result.assumptions[0]
    assert set(result.notes) <= set(result.to_dict()["assumptions"])
    assert result.verdicts[0].what.endswith("over 128 ranks, float")


def test_an_order_from_a_file_says_where_the_ranks_are(b200, tmp_path):
    hosts = tmp_path / "hosts.txt"
    hosts.write_text(
        "".join(f"su{unit:02d}-srv{at:02d} slots=8\n" for unit in range(1, 5) for at in range(1, 5))
    )
    result = check(_changed(b200, order="hostfile", file=str(hosts)), [HEALTHY])
    assert "16 servers as rank_order of the description says (hostfile hosts.txt)" in result.assumptions[0]
    assert result.verdicts[0].sizes


def test_a_missing_log_is_one_line(b200):
    with pytest.raises(InputError, match="can't be read"):
        check(b200, ["no-such-log.txt"])
