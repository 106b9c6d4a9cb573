"""Equal ways between switches, and what ip prints of them."""

import pytest

from gpufabric.errors import InputError
from gpufabric.lab.equal_ways import equal_ways, neighbours_of
from gpufabric.lab.kernel_routes import read_routes

TWO_SPINES = [(leaf, f"up{n}", f"spine{n}", f"down-{leaf}") for leaf in ("a", "b", "c") for n in (1, 2)]


def test_all_spines_lead_to_another_leaf():
    ways = equal_ways(neighbours_of(TWO_SPINES), "a")
    assert ways["b"] == ways["c"] == {"up1", "up2"}
    assert ways["spine1"] == {"down-a"}
    assert "a" not in ways


def test_a_lost_link_takes_its_spine_from_that_leaf_only():
    left = neighbours_of(link for link in TWO_SPINES if link[:2] != ("a", "up1"))
    assert equal_ways(left, "a")["b"] == {"up2"}
    assert equal_ways(left, "c")["b"] == {"up1", "up2"}


def test_who_is_cut_off_has_no_ways():
    assert "x" not in equal_ways(neighbours_of([*TWO_SPINES, ("x", "1", "y", "1")]), "a")


def test_routes_of_every_shape():
    text = """[{"dst":"10.0.0.0/25","protocol":"bgp","nexthops":[
        {"via":{"family":"inet6","host":"fe80::1"},"dev":"swp1","flags":[]},
        {"gateway":"169.254.0.1","dev":"swp2","flags":["onlink"]},
        {"gateway":"169.254.0.1","dev":"swp3","flags":["dead","linkdown"]}]},
      {"type":"blackhole","dst":"10.0.1.0/25","flags":[]},
      {"dst":"10.1.0.1","gateway":"10.0.0.1","dev":"swp1","flags":[]}]"""
    assert read_routes(text) == {
        "10.0.0.0/25": {"swp1", "swp2"},
        "10.0.1.0/25": frozenset(),
        "10.1.0.1": {"swp1"},
    }
    assert read_routes("") == {}


@pytest.mark.parametrize("text", ["nothing", "{}[", '[{"gateway": 1}]', "[1]", "1"])
def test_what_is_no_route_table_is_refused(text):
    with pytest.raises(InputError, match="printed no JSON that is known"):
        read_routes(text)
