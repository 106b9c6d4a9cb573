"""Hashes of replicas are compared step by step."""

from gpufabric.jobs.lab_train import compared_hashes


def test_one_that_differs_is_seen():
    same = {"hashes": [[50, "aa"], [100, "bb"]]}
    assert [one["identical"] for one in compared_hashes([same, same])] == [True, True]
    found = compared_hashes([same, {"hashes": [[50, "aa"], [100, "bc"]]}])
    assert [(one["step"], one["identical"]) for one in found] == [(50, True), (100, False)]
