"""Faults on the command line."""

import pytest

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import preset_spec
from gpufabric.formats.fault_text import parse_fault, with_faults


@pytest.mark.parametrize(
    ("text", "kind", "where", "rate"),
    [
        ("link-down:leaf-01:1/2", "link-down", "leaf-01:1/2", None),
        ("link-slow:srv01:cage1=200 Gb/s", "link-slow", "srv01:cage1", 25e9),
        ("link-slow:srv01 - leaf-01=100 Gb/s", "link-slow", "srv01 - leaf-01", 12.5e9),
        ("rail-down:rail:3", "rail-down", "rail:3", None),
    ],
)
def test_a_fault_is_kind_where_and_rate(text, kind, where, rate):
    fault = parse_fault(text)
    assert (fault.kind, fault.where, fault.rate) == (kind, where, rate)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("link-don:a", r'kind "link-don" is unknown; known: .* Did you mean "link-down"\?'),
        ("switch-down", "not complete"),
        ("switch-down:", "not complete"),
        ("link-slow:a:1=200", "200"),
        ("link-slow:a:1=\x1b[31m", "not understood"),
        ("\x1b]0;x\x07", "unknown"),
        ("link-down:" + "a" * 5000, "4096"),
    ],
)
def test_what_is_wrong_is_one_line(text, reason):
    with pytest.raises(InputError, match=reason) as error:
        parse_fault(text)
    assert str(error.value).isprintable()


def test_faults_are_added_to_those_of_the_description():
    spec = with_faults(preset_spec("superpod-b200"), ["rail-down:1"])
    assert [f.where for f in with_faults(spec, ["rail-down:2"]).faults] == ["1", "2"]
    assert with_faults(spec, []) is spec
    with pytest.raises(InputError, match="10,001 are given; allowed are 10,000"):
        with_faults(spec, ["rail-down:2"] * 10_000)
