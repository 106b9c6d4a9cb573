"""As-built files with mistakes: the same seed gives the same file, and unknown wishes one line."""

from __future__ import annotations

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.faults import FaultsOptions, faults
from gpufabric.jobs.inject_mistakes import KINDS

SPEC = parse_cluster_spec(
    "name: c\nservers: {model: dgx-h100, count: 16}\n"
    "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 8}]\n"
    "room: {rack_power: 12 kW, racks_per_row: 4}\n",
    "c.yaml",
)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_can_be_asked_for(kind):
    made = faults(SPEC, FaultsOptions((f"{kind}:2",), 1, "csv")).mistakes
    assert [mistake.kind for mistake in made] == [kind] * 2
    assert not set(made[0].links) & set(made[1].links)


def test_the_same_seed_is_the_same_file():
    one, other, third = (faults(SPEC, FaultsOptions(("random:5",), seed)).text for seed in (4, 4, 5))
    assert one == other != third


def test_what_a_form_hides_is_said():
    assert faults(SPEC, FaultsOptions(("wrong-rate",), 0, "lldp")).hidden == ("wrong-rate",)
    assert faults(SPEC, FaultsOptions(("wrong-rate",), 0, "ibnetdiscover")).hidden == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (FaultsOptions(("swaped-pair",)), 'Did you mean "swapped-pair"'),
        (FaultsOptions(("missing-device:500",)), "no place left"),
        (FaultsOptions(("random:999999",)), "too many"),
        (FaultsOptions(form="pdf"), "allowed are ibnetdiscover"),
        (FaultsOptions(fabric="storage"), "it has compute"),
    ],
)
def test_bad_wishes_are_one_line(options, words):
    with pytest.raises(InputError, match=words) as error:
        faults(SPEC, options)
    assert "\n" not in str(error.value)


def test_the_file_goes_to_stdout_and_what_was_done_to_stderr(capsys):
    assert run(["faults", "superpod-b200", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("from_device,from_port")
    assert err.count("\n") == 1
    assert run(["faults", "superpod-b200", "--json"]) == 2
