"""Causes put into predicted logs by ``gpufabric faults``: with what a user would hand in beside the log, we name them.

Slow ones print how many are among the first three, and those that are missed.
"""

from __future__ import annotations

import io
import itertools
import re
import sys
from functools import cache

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.check import check
from gpufabric.jobs.inject_log_faults import LogFaultsOptions, inject_log_faults
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.log_fault_kinds import LOG_FAULTS
from gpufabric.jobs.racked_cluster import racked_cluster

#: Server type → server and switch of its description.
TYPES = {
    "dgx-a100": ("hgx-a100", "qm8790"),
    "dgx-h100": ("dgx-h100", "qm9700"),
    "dgx-b200": ("dgx-b200", "qm9700"),
    "roce-h100": ("hgx-h100", "sn5600"),
    "roce-mi300x": ("hgx-mi300x", "sn5600"),
}
CASES = [(kind, name) for kind in LOG_FAULTS for name in TYPES]
#: Two at once of each of these: three show in counters, three in NCCL's log, three inside the server.
PAIRS = list(
    itertools.combinations(
        (
            "link-errors",
            "link-paused",
            "port-down",
            "socket-transport",
            "gpudirect-off",
            "nics-unused",
            "acs-on",
            "pcie-reduced",
            "nvlinks-missing",
        ),
        2,
    )
)
#: What can't be told apart from the files: sockets have neither GPUDirect nor a list of NICs.
HIDING = {frozenset(("socket-transport", "gpudirect-off"))}


@cache
def spec_of(name, servers=8):
    server, switch = TYPES[name]
    return parse_cluster_spec(
        f"servers: {{model: {server}, count: {servers}}}\n"
        f"fabrics: {{topology: leaf-spine, switch: {switch}, unit_servers: {servers // 2}}}\n",
        name,
    )


@cache
def wired(name, servers):
    spec = spec_of(name, servers)
    return racked_cluster(spec, catalog_for(spec))


def made(kinds, name, servers=8, gpus=None):
    options = LogFaultsOptions(tuple(kinds), 3, gpus=gpus)
    return inject_log_faults(spec_of(name, servers), options, wired(name, servers))


def told(result, name, servers=8, most_sizes=6):
    """Return the verdict on the job, and the ids of the three causes named first; of *most_sizes* the smaller."""
    texts = [fewer(text, most_sizes) for _, text in result.files]
    verdict = check(spec_of(name, servers), [io.BytesIO(text.encode()) for text in texts]).verdicts[0]
    return verdict.verdict, [cause.id for cause in verdict.causes[:3]]


def fewer(text, most):
    """Return a log with its first *most* rows only."""
    rows = [line for line in text.splitlines(keepends=True) if re.match(r" +\d+ +\d+ +float", line)]
    for row in rows[most:]:
        text = text.replace(row, "")
    return text


def report(capsys, what, found):
    """Print and return the share of (wanted, ids) that hit."""
    hits = [any(set(LOG_FAULTS[kind].causes) & set(ids) for kind in kinds) for kinds, ids in found]
    whole = [all(set(LOG_FAULTS[kind].causes) & set(ids) for kind in kinds) for kinds, ids in found]
    with capsys.disabled():
        sys.stdout.write(
            f"\n{what}: {sum(whole)} of {len(whole)} with all injected causes among the first three\n"
        )
        for (kinds, ids), hit in zip(found, whole, strict=True):
            if not hit:
                sys.stdout.write(f"  missed {', '.join(kinds)}: {ids}\n")
    return sum(hits) / len(hits), sum(whole) / len(whole)


@pytest.mark.slow
def test_injected_causes_are_among_the_first_three_in_nine_of_ten(capsys):
    found = []
    for kind, name in CASES:
        try:
            result = made((kind,), name)
        except InputError:
            continue  # AMD's servers have no NVLink SHARP, for one
        found.append(((kind,), told(result, name)[1]))
    assert len(LOG_FAULTS) >= 15
    assert len(found) > 0.9 * len(CASES)
    assert report(capsys, f"{len(LOG_FAULTS)} causes, {len(TYPES)} server types", found)[1] >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "sizes"), [(2, 6), (64, 6), (8, 3)])
def test_also_in_small_and_large_jobs_and_in_short_logs(capsys, servers, sizes):
    found = []
    for kind in list(LOG_FAULTS)[:: 1 if servers == 8 else 2]:
        gpus = None if LOG_FAULTS[kind].inside else 8 * servers
        try:
            result = made((kind,), "dgx-h100", servers, gpus)
        except InputError:
            assert servers == 2  # two servers have one pair
            continue
        found.append(((kind,), told(result, "dgx-h100", servers, sizes)[1]))
    assert report(capsys, f"{servers} servers, {sizes} sizes", found)[1] >= 0.9


@pytest.mark.slow
def test_two_causes_at_once(capsys):
    found = [
        (pair, told(made(pair, "dgx-h100"), "dgx-h100")[1]) for pair in PAIRS if frozenset(pair) not in HIDING
    ]
    one, both = report(capsys, "two at once", found)
    assert one == 1.0
    assert both >= 0.9


@pytest.mark.parametrize("name", ["dgx-h100", "roce-mi300x"])
def test_a_log_as_predicted_is_healthy_and_names_no_fault(name):
    log = dict(made((), name).files)["nccl-tests.txt"]
    verdict = check(spec_of(name), [io.BytesIO(log.encode())]).verdicts[0]
    assert verdict.verdict in {"healthy", "cannot tell"}
    assert [c.id for c in verdict.causes if c.confidence >= 0.6 and c.id != "at-the-ceiling"] == []


def test_a_log_alone_shows_no_cause_for_sure():
    log = dict(made(("gpudirect-off",), "dgx-h100").files)["nccl-tests.txt"]
    verdict = check(spec_of("dgx-h100"), [io.BytesIO(log.encode())]).verdicts[0]
    assert verdict.verdict == "low"
    assert max(cause.confidence for cause in verdict.causes) < 0.5
