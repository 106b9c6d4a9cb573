"""Steps come in an order in which every port is free when a cable comes to it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.recognition.order_repairs import count_moves, order_repairs
from gpufabric.records.fabric_match import CableMove, CablingFault


def steps_of(moves, rack_of=lambda name: ""):
    faults = [CablingFault("wrong-port", "f:1", "m", moves=tuple(moves))]
    return order_repairs(faults, None, rack_of)


def done(moves, steps):
    """Do the steps; return where the cables are, and refuse a cable in a port that is taken."""
    at = {move.fixed_end: move.from_port for move in moves}
    for step in steps:
        assert step.to_port not in at.values()
        if step.action == "hold":
            at[step.cable] = ""
        else:
            at[step.cable] = step.to_port
    return at


@given(seed=st.integers(0, 10**6), count=st.integers(1, 40))
def test_any_permutation_is_undone_with_one_move_a_cable(seed, count):
    chance = random.Random(seed)
    ports = [f"s{i}:1" for i in range(count)]
    wanted = ports[: chance.randint(1, count)]
    now = chance.sample(ports, len(wanted))
    moves = [CableMove(f"n{i}:1", a, b) for i, (a, b) in enumerate(zip(now, wanted, strict=True)) if a != b]
    steps = steps_of(moves)
    assert done(moves, steps) == {move.fixed_end: move.to_port for move in moves}
    assert count_moves(steps) == len(moves)
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))


def test_a_swap_holds_one_cable_aside():
    moves = [CableMove("a:1", "x:1", "y:1"), CableMove("b:1", "y:1", "x:1")]
    assert [step.action for step in steps_of(moves)] == ["hold", "move", "move"]


def test_a_chain_begins_at_its_free_end():
    moves = [CableMove("a:1", "x:1", "y:1"), CableMove("b:1", "y:1", "z:1")]
    assert [step.cable for step in steps_of(moves)] == ["b:1", "a:1"]


def test_racks_are_named_and_kept_together():
    moves = [CableMove(f"n{i}:1", f"s:{i + 10}", f"leaf{i % 2}:{i}") for i in range(6)]
    steps = steps_of(moves, {"leaf0": "A01", "leaf1": "A02", "s": "A03"}.get)
    assert [step.to_rack for step in steps] == ["A01"] * 3 + ["A02"] * 3
    assert {step.from_rack for step in steps} == {"A03"}


@pytest.mark.parametrize("kind", ["exchanged-devices", "foreign-device", "missing-device"])
def test_whole_devices_are_one_step(kind):
    (step,) = order_repairs(
        [CablingFault(kind, "f:1", "m", fix="do", devices=("a", "b"))], None, lambda name: ""
    )
    assert (step.cable, step.rule) == ("a and b", f"built-{kind}")
