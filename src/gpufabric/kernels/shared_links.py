"""Flows as weighted sets of links → the same flows on the links that they share, renumbered, and a limit for the rest (compiled).

A link that one flow uses alone is a limit of that flow and nothing else; in a large fabric most links are. The others are
renumbered without gaps. Both keep what is read small and close together.

What costs here is waiting for memory, and a branch on what has just been read from far away makes it wait once a link: a
processor fetches many links at once only while it need not guess. So both passes are written without such branches, and what is
asked of every link is one byte: a quarter of the time of a whole solve of 200,000 flows, and most of its growth beyond linear,
was here before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.compile_kernel import compile_step

# The byte of a link: its number of flows, up to "several", in the low bits; above them the number of its capacity, of which a
# fabric has few, or the last number for "look it up".
_USER_BITS, _ONE, _SEVERAL = 2, 1, 2
_USERS = 2**_USER_BITS - 1
_LOOK_UP = 2 ** (8 - _USER_BITS) - 1
_WORD = 64


class LinkSets(NamedTuple):
    """Flows as weighted sets of links.

    ``first`` int64 F + 1, ``link`` int32 N, ``weight`` float64 N, positive; ``limit`` float64 F, the bytes/s that a flow can't
    exceed whatever its links, infinite for none.
    """

    first: NDArray[np.int64]
    link: NDArray[np.int32]
    weight: NDArray[np.float64]
    limit: NDArray[np.float64]


@compile_step
def keep_shared(
    live: NDArray[np.int64], sets: LinkSets, capacity: NDArray[np.float64]
) -> tuple[LinkSets, NDArray[np.int32], NDArray[np.int32]]:
    """Return the live flows on shared links only, the tightest link that each uses alone (-1), and the shared links.

    Parameters
    ----------
    live : int64 array, L
        Flows to keep; flow *i* of the result is ``live[i]``.
    sets : LinkSets
    capacity : float64 array, E
        Bytes/s.

    Returns
    -------
    sets : LinkSets
        L flows; links are numbers into ``touched``, and ``limit`` has the capacity of links used alone in it.
    alone : int32 array, L
    touched : int32 array
        The shared links.
    """
    state = np.empty(len(capacity), np.uint8)
    levels = _number_capacities(capacity, state)
    for flow in live:
        for e in range(sets.first[flow], sets.first[flow + 1]):
            known = state[sets.link[e]]
            state[sets.link[e]] = known + np.uint8((known & _USERS) < _SEVERAL)
    near, alone = _drop_alone(live, sets, capacity, state, levels)
    return near, alone, _renumber(near.link[: near.first[-1]], state)


@compile_step
def _number_capacities(capacity: NDArray[np.float64], state: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Set the byte of each link, without flows, and return the capacity of each number; neighbours are mostly alike."""
    levels = np.full(_LOOK_UP + 1, np.inf)
    found, number, last = 0, 0, -1.0
    for i in range(len(capacity)):
        if capacity[i] != last:
            last = capacity[i]
            number = 0
            while number < found and levels[number] != last:
                number += 1
            if number == found and found < _LOOK_UP:
                levels[found] = last
                found += 1
        state[i] = np.uint8(number << _USER_BITS)
    return levels


@compile_step
def _drop_alone(
    live: NDArray[np.int64],
    sets: LinkSets,
    capacity: NDArray[np.float64],
    state: NDArray[np.uint8],
    levels: NDArray[np.float64],
) -> tuple[LinkSets, NDArray[np.int32]]:
    """Return the live flows on shared links, numbered as before, and the tightest link that each uses alone.

    Every entry is written, and the next one over it if it was not to be kept.
    """
    first = np.zeros(len(live) + 1, np.int64)
    limit, alone = np.empty(len(live)), np.empty(len(live), np.int32)
    link, weight = np.empty(len(sets.link) + 1, np.int32), np.empty(len(sets.link) + 1)
    kept = 0
    for i in range(len(live)):
        least, tightest = sets.limit[live[i]], -1
        for e in range(sets.first[live[i]], sets.first[live[i] + 1]):
            known = state[sets.link[e]]
            room = levels[known >> _USER_BITS]
            if known >> _USER_BITS == _LOOK_UP:
                room = capacity[sets.link[e]]
            is_alone = known & _USERS == _ONE
            link[kept] = sets.link[e]
            weight[kept] = sets.weight[e]
            kept += not is_alone
            own = room / sets.weight[e] if is_alone else np.inf
            tightest = sets.link[e] if is_alone and own <= least else tightest
            least = min(least, own)
        limit[i], alone[i] = least, tightest
        first[i + 1] = kept
    return LinkSets(first, link, weight, limit), alone


@compile_step
def _renumber(link: NDArray[np.int32], state: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Give shared links new numbers in their order, and return the old number of each.

    Which links are shared is kept as bits, and the new number of a link is how many are set before its own: small enough to stay
    near the processor, where one number a link of a large fabric would not.
    """
    words = len(state) // _WORD + 1
    bits, before = np.zeros(words, np.uint64), np.zeros(words + 1, np.int32)
    for i in range(len(state)):
        bits[i // _WORD] |= np.uint64(state[i] & _USERS == _SEVERAL) << np.uint64(i % _WORD)
    for word in range(words):
        before[word + 1] = before[word] + _set_bits(bits[word])
    touched, different = np.empty(before[words] + 1, np.int32), 0
    for i in range(len(state)):
        touched[different] = i
        different += state[i] & _USERS == _SEVERAL
    for e in range(len(link)):
        word, below = link[e] // _WORD, (np.uint64(1) << np.uint64(link[e] % _WORD)) - np.uint64(1)
        link[e] = before[word] + _set_bits(bits[word] & below)
    return touched[:different]


@compile_step
def _set_bits(word: np.uint64) -> np.int32:
    """Count the set bits: of pairs, then of fours, then of bytes, whose sum the product gathers in the highest byte."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (
        (pairs >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((eights * np.uint64(0x0101010101010101)) >> np.uint64(56))
