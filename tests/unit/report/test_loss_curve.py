"""A training's losses → tables and a curve."""

from defusedxml import ElementTree

from gpufabric.jobs.lab_train import LabTrainResult
from gpufabric.report.loss_curve import hash_rows, loss_curve_svg, loss_rows, summary_rows


def result():
    hashes = ({"step": 2, "sha256": "ab" * 32, "identical": True},)
    return LabTrainResult(
        "small", "gpu", 1, 1, (), 4, ("a", "b", "c", "d"), 1000, 4004, 2, (3.0, 1.5), 3.0, 1.5, 0.02, 0.01, 0.5,
        0.002, "a to b", hashes, True, (),
    ).to_dict()  # fmt: skip


def test_losses_are_averaged_over_stretches():
    rows = loss_rows([4.0] * 12 + [2.0] * 12)
    assert len(rows) == 12
    assert (rows[0], rows[-1]) == (("1 to 2", "4.000", "█" * 40), ("23 to 24", "2.000", "█" * 20))


def test_the_summary_says_share_and_replicas():
    rows = dict(summary_rows(result()))
    assert rows["communication"].startswith("50 % of the step; 10 ms (median)")
    assert rows["replicas"] == "bit-identical"
    assert hash_rows(result()) == [("2", "ab" * 8, "identical")]


def test_the_curve_is_a_drawing_that_falls():
    root = ElementTree.fromstring(loss_curve_svg(result()))
    (curve,) = [e for e in root.iter() if e.get("class") == "curve"]
    first, second = (float(point.split()[1]) for point in curve.get("d")[1:].split("L"))
    assert second > first, "y grows downwards"
