"""What the command line says of a library, on top of what is described."""

import pytest

from gpufabric.errors import InputError
from gpufabric.jobs.job_library import job_library, read_library
from gpufabric.records.spec_fields import Library

DESCRIBED = Library(name="nccl", version="2.24", settings={"NCCL_ALGO": "Ring"})


@pytest.mark.parametrize("text", ["nccl:", "rccl:", "nccl:abc", "nccl: ", "nccl:²", "nccl:2.27:"])
def test_a_name_without_a_version_after_its_colon_is_one_line(text):
    with pytest.raises(InputError, match="is no version; allowed is such as 2"):
        read_library(text, DESCRIBED, {})


@pytest.mark.parametrize("text", ["gloo", ":2.27", "NCCL"])
def test_an_unknown_name_is_one_line(text):
    with pytest.raises(InputError, match="is not modelled; known: nccl, rccl"):
        read_library(text, DESCRIBED, {})


def test_the_command_line_goes_before_the_description():
    both = read_library("nccl:2.27", DESCRIBED, {"NCCL_PROTO": "LL"})
    assert (both.name, both.version) == ("nccl", "2.27")
    assert both.settings == {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL"}
    assert read_library("", DESCRIBED, {}).version == "2.24"
    assert read_library("nccl", DESCRIBED, {}).version is None


def test_a_library_that_is_named_is_held_against_the_gpu():
    with pytest.raises(InputError, match="rccl does not run on h100-sxm"):
        job_library(read_library("rccl", Library(), {}), "h100-sxm")
