"""A design or a file without any link is no reason to fail."""

import io

import pytest

from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.recognition.diagnose_cabling import diagnose_cabling
from gpufabric.recognition.match_fabric import match_fabric
from gpufabric.recognition.recognise_roles import with_roles

HEADER = b"from_device,from_port,to_device,to_port\n"
CABLES = b"n1,p1,leaf1,1\nn2,p1,leaf1,2\n"


def read(rows):
    return read_fabric(io.BytesIO(HEADER + rows), "cables.csv")


@pytest.mark.parametrize(
    ("planned", "built", "kinds"),
    [
        (b"", b"", []),
        (CABLES, b"", []),
        (b"", CABLES, ["foreign-device"] * 3),
        (CABLES, CABLES, []),
    ],
)
def test_a_side_without_links(planned, built, kinds):
    design, found = with_roles(read(planned)), read(built)
    match = match_fabric(design, found)
    assert [fault.kind for fault in diagnose_cabling(design, found, match)] == kinds
    assert match.in_scope.all() == (built == planned or not planned)
