"""Mistakes of all kinds at once: each is found once, nothing else is, and the moves mend the fabric."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def inject(built, rng, count):
    """Make *count* mistakes, each on links of its own; return how many of each kind, as findings name them."""
    rows = list(range(len(built.ends)))
    rng.shuffle(rows)
    taken = {end for ends in built.ends for end in ends}
    made, gone = Counter(), []
    while sum(made.values()) < count and len(rows) > 2:
        kind = rng.choice(["swapped-pair", "wrong-port", "missing-link", "wrong-rate"])
        one = rows.pop()
        a, upper = built.ends[one]
        if kind == "swapped-pair":
            other = rows.pop()
            c, second = built.ends[other]
            if upper[0] == second[0] and a[0] == c[0]:
                continue
            built.ends[one], built.ends[other] = (a, second), (c, upper)
        elif kind == "wrong-port":
            free = [(upper[0], port) for port in range(1, 65) if (upper[0], port) not in taken]
            if not free:
                continue
            built.ends[one] = (a, rng.choice(free))
            taken.add(built.ends[one][1])
        elif kind == "missing-link":
            gone.append(one)
        else:
            built.rates[one] = "4xHDR"
        made[kind] += 1
    built.unplug(*gone)
    return made


@pytest.mark.parametrize("topology", ["rail-optimized", "leaf-spine", "fat-tree"])
@given(seed=st.integers(0, 10**9), servers=st.sampled_from([8, 16, 31]))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_named_fabrics_give_exactly_what_was_done(built, topology, seed, servers):
    rng = random.Random(seed)
    fabric = built(servers, topology, more=", unit_servers: 8" if topology == "rail-optimized" else "")
    made = inject(fabric, rng, rng.randint(1, len(fabric.ends) // 20))
    _, faults = fabric.diagnose()
    assert Counter(fault.kind for fault in faults) == made
    assert sum(len(fault.moves) for fault in faults) == 2 * made["swapped-pair"] + made["wrong-port"]


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["rail-optimized", "leaf-spine"])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_anonymous_fabrics_never_need_more_moves(built, topology, seed):
    """Adapters without names that were swapped with each other are the same fabric: fewer faults, never more."""
    rng = random.Random(seed)
    fabric = built(
        16, topology, anonymous=True, more=", unit_servers: 8" if topology == "rail-optimized" else ""
    )
    made = inject(fabric, rng, rng.randint(1, len(fabric.ends) // 20))
    _, faults = fabric.diagnose()
    found = Counter(fault.kind for fault in faults)
    assert found["missing-link"] == made["missing-link"]
    assert found["wrong-rate"] == made["wrong-rate"]
    assert sum(len(fault.moves) for fault in faults) <= 2 * made["swapped-pair"] + made["wrong-port"]
    assert set(found) <= {"swapped-pair", "wrong-port", "missing-link", "wrong-rate", "shifted-server"}


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["rail-optimized", "fat-tree"])
@pytest.mark.parametrize("named", ["servers", "switches"])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_of_one_side_are_enough(built, topology, named, seed):
    """Unmanaged switches have no names of their own; servers may bear others than the plan gives them."""
    rng = random.Random(seed)
    fabric = built(31, topology, more=", unit_servers: 8" if topology == "rail-optimized" else "")
    hosts = {}
    names = [
        ("Quantum-2 Mellanox Technologies" if named == "servers" else name)
        if is_switch
        else name
        if named == "servers"
        else f"box-{hosts.setdefault(name.split()[0], 7 * len(hosts) % 31)} {name.split()[1]}"
        for name, is_switch in zip(fabric.subnet.names, fabric.subnet.is_switch, strict=True)
    ]
    fabric.subnet = replace(fabric.subnet, names=tuple(names))
    made = inject(fabric, rng, rng.randint(1, len(fabric.ends) // 20))
    match, faults = fabric.diagnose()
    assert Counter(fault.kind for fault in faults) == made
    assert (match.certainty > 0).all()
