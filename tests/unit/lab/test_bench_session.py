"""What launchers say of a rank, and the sizes that so many ranks can measure."""

import pytest

from gpufabric.errors import InputError
from gpufabric.lab.bench_session import Launched, launched, usable_sizes


@pytest.mark.parametrize(
    "names",
    [
        ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
        ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ],
)
def test_torchrun_and_mpirun_are_known(names):
    assert launched(dict(zip(names, ("9", "16", "1"), strict=True))) == Launched(9, 16, 1)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "no launcher has started it"),
        ({"RANK": "0", "WORLD_SIZE": "1"}, "2 or more are allowed"),
        ({"RANK": "4", "WORLD_SIZE": "4"}, r"4 ranks \(rank 4\)"),
        ({"RANK": "-1", "WORLD_SIZE": "4"}, r"no rank of a job \(-1 of 4\)"),
        ({"RANK": "\x1b[2J", "WORLD_SIZE": "4"}, r"\\x1b"),
        ({"RANK": "0", "WORLD_SIZE": "9" * 7}, "9999999 ranks"),
    ],
)
def test_what_makes_no_sense_is_refused(environment, message):
    with pytest.raises(InputError, match=message):
        launched(environment)


def test_sizes_are_whole_elements_of_every_rank():
    assert usable_sizes("all_reduce", [1, 2, 6, 8], 3) == [4, 8]
    assert usable_sizes("all_gather", [8, 16, 40, 47], 3) == [12, 36]
