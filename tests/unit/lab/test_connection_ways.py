"""Connections as the kernel lists them → whose they are."""

import pytest

from gpufabric.errors import InputError
from gpufabric.lab.connection_ways import Connection, parse_end, ring_connections, shared_ways


def test_ends_are_little_endian():
    assert parse_end("0100000A:1F90") == ("10.0.0.1", 8080)


def test_each_rank_sends_over_the_connection_with_the_one_before():
    a, b, c = "0100000A", "0300000A", "0500000A"
    ends = [
        [[f"{a}:0001", f"{b}:0002"], [f"{a}:0003", f"{c}:0004"]],
        [[f"{b}:0002", f"{a}:0001"], [f"{b}:0005", f"{c}:0006"]],
        [[f"{c}:0004", f"{a}:0003"], [f"{c}:0006", f"{b}:0005"]],
    ]
    assert ring_connections(ends) == (
        Connection("10.0.0.1", 3, "10.0.0.5", 4),
        Connection("10.0.0.3", 2, "10.0.0.1", 1),
        Connection("10.0.0.5", 6, "10.0.0.3", 5),
    )
    with pytest.raises(InputError, match="rank 2 is not connected"):
        ring_connections([*ends[:2], ends[2][:1]])


def test_links_are_counted_by_direction():
    assert shared_ways([[(0, 0), (1, 1)], [(0, 0), (1, 0)]]) == {(0, 0): 2, (1, 1): 1, (1, 0): 1}
