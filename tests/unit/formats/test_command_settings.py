"""Settings of the library are found in command lines and environments; secrets are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpufabric.formats.command_settings import MAX_SETTINGS, settings_in


def found(*lines):
    return dict(settings_in(enumerate(lines, 1), "run.sh"))


def test_assignments_of_launchers_shells_and_environments():
    said = found(
        "mpirun -np 16 -x NCCL_IB_HCA=mlx5_0,mlx5_1 -x LD_LIBRARY_PATH all_reduce_perf",
        "export NCCL_ALGO='Ring,Tree'",
        'env: NCCL_PROTO="Simple"; RCCL_MSCCL_ENABLE=0',
    )
    assert said == {
        "NCCL_IB_HCA": ("mlx5_0,mlx5_1", "run.sh:1"),
        "NCCL_ALGO": ("Ring,Tree", "run.sh:2"),
        "NCCL_PROTO": ("Simple", "run.sh:3"),
        "RCCL_MSCCL_ENABLE": ("0", "run.sh:3"),
    }


def test_the_last_of_a_name_stands():
    assert found("NCCL_ALGO=Ring", "NCCL_ALGO=Tree")["NCCL_ALGO"] == ("Tree", "run.sh:2")


def test_names_that_smell_of_secrets_are_left_out():
    assert found("NCCL_NET_TOKEN=abc NCCL_API_KEY=abc NCCL_ALGO=Ring") == {"NCCL_ALGO": ("Ring", "run.sh:1")}


def test_names_inside_other_names_are_none():
    assert found("MY_NCCL_ALGO=Ring aNCCL_ALGO=Ring") == {}


def test_as_many_as_are_allowed():
    assert len(found(*(f"NCCL_X{i}=1" for i in range(1000)))) == MAX_SETTINGS


@given(st.lists(st.text(max_size=300), max_size=20))
def test_any_text_is_harmless(lines):
    for name, (value, where) in found(*lines).items():
        assert name.isupper()
        assert value.isprintable()
        assert where.startswith("run.sh:")
