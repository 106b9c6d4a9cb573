"""Environment variables: what they change, what is named as not acted on, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufabric.catalog.load_library import load_library, version_note
from gpufabric.errors import InputError
from gpufabric.libraries.read_settings import read_assignments, read_settings


def read(version=None, **settings):
    return read_settings(load_library("nccl", version), settings)


def test_what_is_not_set_is_the_default():
    settings = read()
    assert settings.queue_pairs == 1
    assert settings.nvls
    assert not settings.collnet
    assert settings.notes == ()


def test_of_two_variables_for_one_bound_the_tighter_one_holds():
    settings = read(NCCL_MIN_NCHANNELS="4", NCCL_MIN_CTAS="24", NCCL_MAX_CTAS="32", NCCL_MAX_NCHANNELS="30")
    assert (settings.least_channels, settings.most_channels) == (24, 30)


def test_adapters_are_counted_when_they_are_named():
    assert read(NCCL_IB_HCA="=mlx5_0:1,mlx5_1:1").nics == 2
    assert read(NCCL_IB_HCA="mlx5").nics is None
    assert read(NCCL_IB_HCA="^mlx5_2").notes == ("NCCL_IB_HCA: not acted on",)


def test_what_is_not_known_or_not_modelled_is_named():
    notes = read(NCCL_ALG="Ring", NCCL_CROSS_NIC="1", NCCL_DEBUG="INFO").notes
    assert notes[0].endswith('not acted on. Did you mean "NCCL_ALGO"?')
    assert notes[1].startswith("NCCL_CROSS_NIC: not acted on: rings are planned on one rail each")
    assert "NCCL_DEBUG: not known for nccl" in notes[2]


def test_a_variable_that_a_version_does_not_have_is_named():
    assert "not known for nccl 2.16" in read("2.16", NCCL_NVLS_ENABLE="0").notes[0]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("NCCL_ALGO", "Rign", 'NCCL_ALGO: "rign" is unknown; known: Ring, Tree'),
        ("NCCL_ALGO", "", 'NCCL_ALGO: "" is unknown'),
        ("NCCL_ALGO", "ring;tree", "names no operation"),
        ("NCCL_ALGO", "allreduc:ring", 'operation "allreduc" is unknown; known: allreduce, allgather'),
        ("NCCL_PROTO", "LL256", '"ll256" is unknown; known: LL, LL128, Simple'),
        ("NCCL_MIN_CTAS", "0", 'NCCL_MIN_CTAS: "0" is out of range; allowed is a number, 1 to 64'),
        ("NCCL_MAX_CTAS", "-4", '"-4" is out of range'),
        ("NCCL_IB_QPS_PER_CONNECTION", "many", '"many" is out of range; allowed is a number, 1 to 128'),
        ("NCCL_NVLS_ENABLE", "9" * 999, "is out of range"),
        ("NCCL_MNNVL_ENABLE", "\x1b[31m", "is out of range"),
    ],
)
def test_a_bad_value_is_one_line(name, value, message):
    with pytest.raises(InputError) as caught:
        read(**{name: value})
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert "\x1b" not in text


def test_lists_by_operation_exist_since_2_24():
    with pytest.raises(InputError, match="names an operation; this version allows one list for all"):
        read("2.23", NCCL_ALGO="allreduce:ring")


def test_bounds_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="at least 24 channels and at most 8 contradict"):
        read(NCCL_MIN_CTAS="24", NCCL_MAX_CTAS="8")


@given(
    st.dictionaries(st.sampled_from([r.name for r in load_library("nccl").settings]), st.text(max_size=40))
)
def test_any_text_is_read_or_refused_in_one_line(settings):
    refused = ""
    try:
        assert read_settings(load_library("nccl"), settings).queue_pairs >= 1
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused


def test_assignments_of_the_command_line():
    assert read_assignments(["NCCL_ALGO=allreduce:ring", "A=b=c", "A="]) == {
        "NCCL_ALGO": "allreduce:ring",
        "A": "",
    }
    for text in ("NCCL_ALGO", "nccl_algo=Ring", "=x", "A B=1", "_A=1", "1A=2", "É=1", "A" * 65 + "=1"):
        with pytest.raises(InputError, match="is no assignment"):
            read_assignments([text])


def test_a_value_of_the_command_line_is_as_long_as_one_of_a_description():
    assert read_assignments(["A=" + "x" * 1024])["A"] == "x" * 1024
    with pytest.raises(InputError, match="A: its value is too long"):
        read_assignments(["A=" + "x" * 1025])


@pytest.mark.parametrize("version", ["", "abc", "2.", ".2", "²", "1.2.3.4.5", "\x1b[31m"])
def test_a_version_that_is_none_is_one_line(version):
    with pytest.raises(InputError, match="is no version; allowed is such as 2") as caught:
        load_library("nccl", version)
    assert "\x1b" not in str(caught.value)


def test_versions_outside_of_what_is_modelled_take_the_nearest_rules_and_say_so():
    assert version_note(load_library("nccl", "2.27.3")) == ""
    assert "2.9.9 is not modelled (2.12 to 2.30 are)" in version_note(load_library("nccl", "2.9.9"))
    assert version_note(load_library("nccl", "3.1")).endswith("choose as 2.30 does")
    with pytest.raises(InputError, match="is no version"):
        load_library("nccl", "two")
    with pytest.raises(InputError, match="gloo is not modelled; allowed: nccl, rccl"):
        load_library("gloo")
