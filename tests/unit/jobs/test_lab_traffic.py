"""Situations as measured → findings."""

from gpufabric.jobs.lab_traffic import Situation, TrafficRow, judge_situations


def situation(name, measured, predicted, wrong=0):
    row = TrafficRow(1 << 24, 1.0, measured, measured, wrong, predicted, measured / predicted - 1)
    return Situation(name, "", "", predicted, predicted, predicted, (row,))


def rules(*situations):
    return [(finding.rule, finding.where) for finding in judge_situations(situations)]


def test_near_predictions_in_the_same_order_are_fine():
    assert rules(situation("a", 24e6, 25e6), situation("b", 11e6, 12e6), situation("c", 12e6, 12e6)) == []


def test_far_off_wrong_and_misordered_ones_are_found():
    assert rules(situation("a", 21e6, 25e6)) == [("lab-traffic-off", "a")]
    assert rules(situation("a", 25e6, 25e6, wrong=3)) == [("lab-traffic-wrong", "a")]
    found = rules(situation("a", 21.4e6, 25e6), situation("b", 22e6, 20e6))
    assert found == [("lab-traffic-order", "b")]
