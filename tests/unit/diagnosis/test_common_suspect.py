"""The place that slow runs share is found, and nothing where there is none."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from gpufabric.diagnosis.common_suspect import find_suspects
from gpufabric.diagnosis.what_changed import what_changed
from gpufabric.records.compared_run import ComparedRun

GB = 1e9


def run(hosts, rate, places=(), facts=None, name=""):
    what = name or "+".join(hosts)
    return ComparedRun(
        what,
        f"{what}.txt",
        "all_reduce",
        8 * len(hosts),
        tuple(hosts),
        places,
        1 << 33,
        rate * GB,
        math.nan,
        facts or {},
    )


def test_the_slow_server_alone():
    runs = [run([f"n{i}"], 400 if i != 3 else 250) for i in range(8)]
    assert [f.where for f in find_suspects(runs)] == ["server n3"]


def test_two_pairs_tell_which_of_the_two_servers():
    near = [run([f"n{i}", f"n{i + 1}"], 300) for i in (0, 2, 4, 6)]
    far = [run([f"n{i}", f"n{i + 4}"], 300) for i in range(4)]
    runs = [run(r.hosts, 150) if "n5" in r.hosts else r for r in near + far]
    found = find_suspects(runs)
    assert [f.where for f in found] == ["server n5"]
    assert found[0].confidence == 0.9


def test_one_pair_does_not_tell_which_of_the_two():
    runs = [run([f"n{i}", f"n{i + 1}"], 150 if i == 2 else 300) for i in (0, 2, 4, 6)]
    (found,) = find_suspects(runs)
    assert "it may as well be server n3" in found.message
    assert found.confidence == 0.5


def test_a_leaf_when_all_its_servers_are_slow():
    runs = [run([f"n{i}"], 200 if i < 3 else 400, (f"leaf l{i // 3}",)) for i in range(9)]
    assert [f.where for f in find_suspects(runs)] == ["leaf l0"]


def test_the_nic_that_every_slow_run_was_restricted_to():
    runs = [
        run([f"n{i}", f"n{i + 1}"], 20 if nic == 3 else 48, (f"NIC mlx5_{nic}",))
        for i in (0, 2)
        for nic in range(8)
    ]
    assert [f.where for f in find_suspects(runs)] == ["NIC mlx5_3"]


@given(st.lists(st.floats(380, 420), min_size=3, max_size=30))
def test_runs_that_are_alike_have_no_suspect(rates):
    assert find_suspects([run([f"n{i}"], rate) for i, rate in enumerate(rates)]) == []


@given(st.integers(4, 40), st.data())
def test_any_slow_server_is_found_alone(count, data):
    bad = data.draw(st.integers(0, count - 1))
    runs = [run([f"n{i}"], 200 if i == bad else 400) for i in range(count)]
    assert [f.where for f in find_suspects(runs)] == [f"server n{bad}"]


def test_what_changed_between_two_runs_is_named():
    old = run(["a", "b"], 20, facts={"library": "NCCL 2.8.3", "transports": "NET/IB/GDRDMA"}, name="old")
    new = run(["a", "b"], 3.7, facts={"library": "NCCL 2.10.3", "transports": "NET/IB"}, name="new")
    (found,) = what_changed([old, new])
    assert found.message.startswith("-82% beside old: ")
    assert "transports: NET/IB/GDRDMA → NET/IB" in found.evidence
    assert "library: NCCL 2.8.3 → NCCL 2.10.3" in found.evidence


def test_runs_of_the_same_rate_have_not_changed():
    assert what_changed([run(["a", "b"], 20), run(["a", "b"], 20.5)]) == []
