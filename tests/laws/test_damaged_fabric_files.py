"""Files about a fabric that are damaged in any way are checked to the end: findings, never an exception."""

from __future__ import annotations

import functools
import io
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.built_designs import described_design
from gpufabric.jobs.check_files import check_files
from gpufabric.jobs.check_wiring import check_wiring
from gpufabric.jobs.faults import FaultsOptions, faults
from gpufabric.jobs.sort_files import SortedFiles

SPEC = parse_cluster_spec(
    "name: c\nservers: {model: dgx-h100, count: 8}\n"
    "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 4}]\n",
    "c.yaml",
)


@functools.cache
def design():
    return described_design(SPEC)


@functools.cache
def text_of(form, seed):
    return faults(SPEC, FaultsOptions(("random:2",), seed, form)).text


def damaged(text, chance):
    lines = text.splitlines()
    for _ in range(chance.randint(1, 12)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        way = chance.randrange(6)
        if way == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif way == 1:
            lines[at] = lines[other]
        elif way == 2:
            lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
        elif way == 3 and lines[at]:
            spot = chance.randrange(len(lines[at]))
            lines[at] = lines[at][:spot] + chance.choice("0199-/[](),\"' \x00\x1bé") + lines[at][spot + 1 :]
        elif way == 4:
            del lines[at : at + chance.randint(1, 30)]
            lines = lines or [""]
        else:
            lines[at] += lines[other]
    return "\n".join(lines)


@pytest.mark.parametrize("form", ["ibnetdiscover", "lldp", "csv"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_are_checked_to_the_end(form, seed):
    chance = random.Random(seed)
    text = damaged(text_of(form, seed % 3), chance)
    found = read_fabric(io.BytesIO(text.encode("utf-8", "replace")), "damaged.txt")
    if found is None:
        return
    checked = check_wiring(design(), [found]).check
    assert 0 <= checked.match.certainty <= 1
    assert 0 <= checked.match.links_as_designed <= checked.match.links
    assert len({step.step for step in checked.repairs}) == len(checked.repairs)
    inferred = check_files(SortedFiles((found,), (), ()), None)
    assert inferred.certainty is not None
    assert 0 <= inferred.certainty <= 1
