"""How many messages follow one another."""

from dataclasses import replace

import numpy as np
import pytest

from gpufabric.collectives.fixed_steps import fixed_steps
from gpufabric.collectives.longest_chain import NO_CHAIN, Chain, longest_chain
from gpufabric.records.schedule import Edges, Phase


def phase(pairs, between, repeat, turn=None):
    sender, receiver = np.array(pairs, np.int32).reshape(-1, 2).T
    port = np.where(between, 7, -1).astype(np.int32) if len(pairs) else np.empty(0, np.int32)
    edges = Edges(sender, receiver, port, port)
    return Phase(
        "x", repeat, fixed_steps(edges, 1.0, turn=None if turn is None else np.array(turn)), reduces=False
    )


RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize("repeat", range(1, 12))
def test_a_walk_round_a_ring(repeat):
    found = longest_chain(phase(RING, [False, True, False, True], repeat))
    # A walk begins where it meets most: every second edge lies between nodes.
    between = (repeat + 1) // 2 if repeat > 1 else 1
    inside = repeat - between
    assert found == Chain(2 * inside, 2 * between, 2 * between)


def test_a_tree_up_and_down_ends_at_its_root():
    up = [(3, 1), (4, 1), (1, 0), (2, 0)]
    between = [False, True, True, False]
    assert longest_chain(phase(up, between, 2, [0, 0, 1, 1])) == Chain(0, 4, 4)
    down = [(b, a) for a, b in up]
    assert longest_chain(phase(down, between, 2, [1, 1, 0, 0])) == Chain(0, 4, 4)


def test_a_message_into_a_switch_is_a_half():
    assert longest_chain(phase([(0, -1), (1, -1)], [False, False], 1)) == Chain(1, 0, 0)
    into_fabric = Edges(*(np.array([v], np.int32) for v in (0, -3, 5, -1)))
    assert longest_chain(Phase("x", 1, fixed_steps(into_fabric, 1.0), reduces=True)) == Chain(0, 1, 1)
    both = Chain(1, 0, 0) + Chain(1, 3, 3)
    assert (both.inside_steps, both.fabric_steps) == (1, 2)


def test_nothing_has_no_chain():
    assert longest_chain(phase([], [], 0)) == NO_CHAIN


def test_where_a_gpu_has_several_messages_a_step_all_may_be_between_nodes():
    tangled = [(0, 1), (0, 2), (1, 0), (2, 0)]
    assert longest_chain(phase(tangled, [True, False, True, False], 3)) == Chain(0, 6, 6)


def peers(pairs, between):
    found = phase(pairs, between, 1)
    return replace(found, steps=replace(found.steps, peers=True))


def test_a_gpu_deals_with_its_peers_one_after_the_other_eight_at_a_time_between_nodes():
    far = [(0, gpu) for gpu in range(8, 25)]
    assert longest_chain(peers(far, [True] * 17)) == Chain(0, 2 * 3, 2)
    gathers = [(gpu, 0) for gpu in range(1, 25)]
    assert longest_chain(peers(gathers, [gpu >= 8 for gpu, _ in gathers])) == Chain(2 * 7, 2 * 3, 2)
    assert longest_chain(peers([(0, 1), (0, 2)], [False, False])) == Chain(4, 0, 0)
    to_the_next = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert longest_chain(peers(to_the_next, [False, True, False, True])) == Chain(0, 2, 2)
