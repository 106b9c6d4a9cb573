"""Which cable joins what: by reach, cages, wish and price; lengths on sale; trunks between patch panels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import CableChoice, ClusterSpec
from gpufabric.records.floor_plan import LinkLengths
from gpufabric.records.parts import AnyPart
from gpufabric.records.port_cages import cabled_lengths_m, port_modules
from gpufabric.topologies import assign_assemblies, resolve_parts, wire_cluster
from gpufabric.topologies.cable_parts import CageEnd, LinkNeed, cable_runs
from gpufabric.topologies.cabling_draft import on_sale
from gpufabric.topologies.linked_cages import linked_cages
from gpufabric.topologies.trunk_parts import generic_trunks, links_of_trunk, trunk_part

CATALOG = load_catalog()
GBPS = 125e6


class PricedCatalog:
    """Some parts of the catalogue, with other prices."""

    def __init__(self, prices: dict[str, float | None]) -> None:
        self._prices = prices

    def of_kind(self, kind: str) -> tuple[AnyPart, ...]:
        return tuple(
            part.model_copy(update={"price_usd": self._prices[part.id]})
            for part in CATALOG.of_kind(kind)
            if part.id in self._prices
        )


def spec_of(model: str, count: int, switch: str = "qm9790", **fabric: Any) -> ClusterSpec:
    return ClusterSpec.model_validate(
        {
            "servers": {"model": model, "count": count},
            "fabrics": {"topology": "rail-optimized", "switch": switch, **fabric},
        }
    )


def cabled(spec: ClusterSpec, metres: float | None) -> Cluster:
    """Cable a cluster all of whose links have the same length."""
    parts = resolve_parts(spec, CATALOG)
    wired = wire_cluster(spec, CATALOG, parts)
    ends = np.full(len(wired.links), np.nan)
    lengths = None if metres is None else LinkLengths(np.full(len(wired.links), metres), ends, ends)
    return assign_assemblies(wired, spec, parts, CATALOG, lengths)


def parts_used(cluster: Cluster) -> dict[str, int]:
    numbers, counts = np.unique(cluster.assemblies.part, return_counts=True)
    return {cluster.parts[n]: int(count) for n, count in zip(numbers, counts, strict=True)}


def switch_to_switch(ports: int = 2, pairs: bool = True) -> LinkNeed:
    end = CageEnd("osfp-finned", ports)
    return LinkNeed(end, end, 400 * GBPS, "infiniband", pairs, splits_upper=False)


def test_the_cheapest_that_reaches_without_a_wish():
    """Between the twin-port cages of leaf and spine: passive to 2 m, active copper to 5, multimode to 50, single mode beyond."""
    spec = spec_of("gb200-nvl72-tray", 72, topology="leaf-spine")
    expected = {1.2: "mcp4y10", 4.2: "mca4j80", 30.0: "mfp7e10", 80.0: "mfp7e30", 400.0: "mfp7e30"}
    for metres, part in expected.items():
        cluster = cabled(spec, metres)
        switches = cluster.devices.kind[cluster.link_device_a] == 1
        used = np.unique(cluster.assemblies.part[cluster.links.assembly[switches]])
        assert [cluster.parts[n] for n in used] == [part], metres
    near, far = (
        {cabled(spec, metres).parts[n] for n in np.unique(cabled(spec, metres).modules.part)}
        for metres in (80.0, 400.0)
    )
    assert "mms4x00-ns" in near
    assert "mms4x00-nm" in far


def test_lengths_come_from_what_is_on_sale():
    bought = cabled(spec_of("gb200-nvl72-tray", 72, topology="leaf-spine"), 1.2).assemblies.length_m
    assert set(bought.tolist()) == {1.5}
    fibre = cabled(spec_of("dgx-h100", 64), 7.3)
    assert set(fibre.assemblies.length_m.tolist()) == {8.0}


def test_without_a_floor_plan_it_is_fibre_of_unknown_length():
    cluster = cabled(spec_of("dgx-h100", 64), None)
    assert set(parts_used(cluster)) == {"mfp7e10"}
    assert np.isnan(cluster.assemblies.length_m).all()


def test_twin_port_copper_needs_both_links_of_a_pair_of_cages():
    """The two ports of a DGX cage go to two leaves, so even half a metre is not copper."""
    cluster = cabled(spec_of("dgx-h100", 64), 0.4)
    to_server = cluster.devices.kind[cluster.link_device_a] == 0
    server, between = (
        {cluster.parts[n] for n in np.unique(cluster.assemblies.part[cluster.links.assembly[rows]])}
        for rows in (to_server, ~to_server)
    )
    assert server == {"mfp7e10"}
    assert between == {"mcp4y10"}
    shared = np.bincount(cluster.links.assembly)
    assert set(shared[np.unique(cluster.links.assembly[~to_server])].tolist()) == {2}


def test_one_long_link_takes_the_links_of_its_cages_with_it():
    spec = spec_of("dgx-h100", 64)
    parts = resolve_parts(spec, CATALOG)
    wired = wire_cluster(spec, CATALOG, parts)
    total = np.full(len(wired.links), 1.0)
    long = int(np.flatnonzero(wired.devices.kind[wired.link_device_a] == 1)[0])
    total[long] = 40.0
    none = np.full(len(total), np.nan)
    cluster = assign_assemblies(wired, spec, parts, CATALOG, LinkLengths(total, none, none))
    used = [cluster.parts[n] for n in cluster.assemblies.part[cluster.links.assembly]]
    cage = (cluster.link_device_a == cluster.link_device_a[long]) & (
        cluster.ports.cage[cluster.links.port_a] == cluster.ports.cage[cluster.links.port_a[long]]
    )
    assert {used[row] for row in np.flatnonzero(cage)} == {"mfp7e10"}
    assert used.count("mcp4y10") > 400


def test_every_port_of_a_fibre_has_a_module_and_no_port_of_copper_has():
    cluster = cabled(spec_of("dgx-h100", 64), 1.0)
    fibre = np.array([cluster.parts[n].startswith("mfp") for n in cluster.assemblies.part])[
        cluster.links.assembly
    ]
    for end in (cluster.links.port_a, cluster.links.port_b):
        assert np.array_equal(port_modules(cluster, end) >= 0, fibre)


def test_a_wish_wins_even_beyond_reach():
    wish = {"leaf_spine": {"technology": "dac"}}
    cluster = cabled(spec_of("dgx-h100", 64, cables=wish), 7.0)
    assert parts_used(cluster)["mcp4y10"] == 256
    copper = cluster.parts.index("mcp4y10")
    assert set(cluster.assemblies.length_m[cluster.assemblies.part == copper].tolist()) == {7.0}


def test_a_wished_length_is_bought_as_it_is():
    cluster = cabled(spec_of("dgx-h100", 64, cables={"leaf_spine": {"length": "3.3 m"}}), 7.0)
    assert 3.3 in cluster.assemblies.length_m


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"part": "mma4z00-ns400"}, "no mma4z00-ns400 of the catalogue joins"),
        (
            {"part": "mma1z00-ns400"},
            "is qsfp112 and fits neither of the cages, which are osfp-flat and osfp-finned",
        ),
        ({"technology": "aoc"}, "can't be used, because the 2 ports of one osfp-flat cage"),
        ({"technology": "dac", "medium": "single-mode"}, "can't be used"),
    ],
)
def test_wishes_that_do_not_fit_are_refused(wish: dict[str, str], message: str):
    with pytest.raises(UnbuildableError, match=message) as refusal:
        cabled(spec_of("dgx-h100", 8, cables={"server_leaf": wish}), 5.0)
    assert refusal.value.nearest == "technology: fibre"


def test_a_transceiver_can_be_wished():
    wish = {"server_leaf": {"part": "mms4x00-nm"}}
    cluster = cabled(spec_of("dgx-h100", 8, cables=wish), 5.0)
    assert "mms4x00-nm" in cluster.parts
    assert "mfp7e30" in cluster.parts


def test_an_unknown_part_is_named_with_its_neighbour():
    with pytest.raises(SpecError, match=r'"mcp4y11" is unknown; known: .*Did you mean "mcp4y10"'):
        cabled(spec_of("dgx-h100", 8, cables={"server_leaf": {"part": "mcp4y11"}}), 5.0)


def test_prices_decide_where_all_are_known():
    need = switch_to_switch()
    names = ("mcp4y10", "mca4j80", "mfp7e10", "mfp7e30", "mma4z00-ns", "mms4x00-ns", "mms4x00-nm")
    dear_copper = dict.fromkeys(names, 10.0) | {"mcp4y10": 900.0, "mca4j80": 950.0}
    runs = cable_runs(need, CableChoice(), PricedCatalog(dear_copper), "here")
    assert runs[0].technology == "fibre"
    assert runs[0].price_usd == pytest.approx(10.0 + 2 * 10.0 / 2)
    some = cable_runs(need, CableChoice(), PricedCatalog(dear_copper | {"mfp7e30": None}), "here")
    assert some[0].cable == "mcp4y10"


def test_a_straight_cable_with_two_kinds_of_ends_goes_either_way_round():
    need = LinkNeed(CageEnd("osfp-flat", 2), CageEnd("osfp-finned", 2), 400 * GBPS, "infiniband", True, False)
    assert "mca4j80-ftf" in [run.cable for run in cable_runs(need, CableChoice(), CATALOG, "here")]
    swapped = replace(need, lower=need.upper, upper=need.lower)
    assert "mca4j80-ftf" in [run.cable for run in cable_runs(swapped, CableChoice(), CATALOG, "here")]


def test_on_sale():
    needed = np.array([0.4, 0.5, 1.1, 2.6, np.nan])
    assert on_sale((2.0, 0.5, 1.5), needed).tolist()[:4] == [0.5, 0.5, 1.5, 3.0]
    assert np.isnan(on_sale((2.0,), needed)[4])
    assert on_sale((), np.array([2.3]), 2.5).tolist() == [2.5]


def test_linked_cages_are_the_connected_ones():
    lower, upper = np.array([1, 1, 2, 3, 3]), np.array([10, 11, 11, 12, 12])
    found = linked_cages(lower, upper, 2, 2)
    assert found.count == 2
    assert found.group.tolist() == [0, 0, 0, 1, 1]
    assert found.paired.tolist() == [False, False, False, True, True]
    assert linked_cages(lower, upper, 1, 1).count == 5


def test_structured_cabling_shares_trunks_and_counts_patch_cords():
    spec = spec_of("dgx-h100", 64, cables={"leaf_spine": {"trunk_fibres": 144}})
    found = racked_cluster(spec, CATALOG)
    cluster = found.cluster
    trunk = cluster.parts.index("mpo-12-trunk-144-multimode")
    assert found.parts.cables[cluster.parts[trunk]].links == 12
    trunked = np.flatnonzero(cluster.assemblies.part[cluster.links.assembly] == trunk)
    pairs = {
        tuple(sorted(pair))
        for pair in zip(
            cluster.devices.rack[cluster.link_device_a[trunked]].tolist(),
            cluster.devices.rack[cluster.link_device_b[trunked]].tolist(),
            strict=True,
        )
    }
    trunks = int((cluster.assemblies.part == trunk).sum())
    assert len(trunked) == 512
    assert sum(1 for a, b in pairs if a != b) == len(pairs)
    assert len(trunked) / 12 <= trunks <= len(trunked) / 12 + len(pairs)
    assert np.array_equal(np.bincount(cluster.jumpers.link)[trunked], np.full(len(trunked), 2))
    assert len(cluster.jumpers) == 2 * len(trunked)
    assert (cabled_lengths_m(cluster) >= found.floor_plan.lengths.total_m).all()


def test_trunks_of_the_catalogue_come_before_generic_ones():
    assert links_of_trunk(144, "mpo-12-apc") == 12
    assert links_of_trunk(24, "lc-duplex") == 12
    assert links_of_trunk(8, "mpo-12-apc") == 1
    generic = trunk_part(144, "multimode", "mpo-12-apc", ())
    own = generic_trunks({generic, "mfp7e10"})
    assert list(own) == [generic]
    named = own[generic].model_copy(update={"id": "my-trunk"})
    assert trunk_part(144, "multimode", "mpo-12-apc", (named,)) == "my-trunk"
    assert trunk_part(144, "single-mode", "mpo-12-apc", (named,)).startswith("generic-trunk-144f-single-mode")


@pytest.mark.parametrize(("fibres", "nearest"), [(2, 8), (4, 8), (13, 14)])
def test_a_trunk_that_cannot_carry_its_links_is_refused(fibres: int, nearest: int):
    """SR4 lights eight fibres, four each way."""
    spec = spec_of("dgx-h100", 64, cables={"leaf_spine": {"trunk_fibres": fibres}})
    with pytest.raises(UnbuildableError, match="lights 8") as refusal:
        racked_cluster(spec, CATALOG)
    assert refusal.value.nearest == f"trunk_fibres: {nearest}"
