"""What a version with its settings may choose from."""

import pytest

from gpufabric.catalog.load_library import load_library
from gpufabric.errors import InputError
from gpufabric.libraries.menu import lay_menu
from gpufabric.libraries.read_settings import read_settings


def menu(situation, op="all_reduce", version=None, library="nccl", **settings):
    model = load_library(library, version)
    return lay_menu(model, read_settings(model, settings), situation, op)


def allowed(found):
    return {candidate.algorithm for candidate in found.candidates if not candidate.fix}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.16", {"ring", "tree"}),
        ("2.17", {"ring", "tree"}),
        ("2.18", {"tree", "nvls_tree"}),
        ("2.30", {"tree", "nvls_tree"}),
    ],
)
def test_all_reduce_between_nodes(situation, version, expected):
    assert allowed(menu(situation(), version=version)) == expected


# 8 and 4 nodes of 8 H100: 320 and 325 GB/s at defaults, 391 with more channels (nccl-tests issue 309, read 2026-11).
def test_nvls_tree_is_rated_above_rings_from_three_nodes_on(situation):
    found = menu(situation())
    assert {c.fix for c in found.candidates if c.algorithm == "ring"} == {("NCCL_ALGO=Ring",)}
    assert dict(found.ruled_out)["ring"] == "the library rates NVLSTree above it here"
    assert "ring" in allowed(menu(situation(nodes=2)))
    assert "ring" in allowed(menu(situation(node_ranks=1)))
    assert "ring" in allowed(menu(situation(nic="aws-efa-v3", network="ethernet")))
    assert "ring" in allowed(menu(situation(), NCCL_MIN_CTAS="24"))
    assert "ring" in allowed(menu(situation(), NCCL_NVLS_ENABLE="0"))
    assert allowed(menu(situation(), NCCL_ALGO="Ring")) == {"ring"}


@pytest.mark.parametrize(
    ("version", "expected"), [("2.16", {"ring", "tree"}), ("2.17", {"ring", "tree", "nvls"})]
)
def test_nvls_inside_a_node_since_2_17(situation, version, expected):
    assert allowed(menu(situation(nodes=1), version=version)) == expected


# Measured on 8 H200 and 8 B200 with 4 to 8 GPUs (stas00/ml-engineering, network/README.md, read 2026-11).
@pytest.mark.parametrize(("gpu", "least"), [("h200-sxm", 5), ("b200-sxm", 6)])
@pytest.mark.parametrize("gpus", range(2, 9))
def test_nvls_is_the_default_from_so_many_gpus_on(situation, gpu, least, gpus):
    found = menu(situation(nodes=1, node_ranks=gpus, gpu=gpu), version="2.27")
    assert ("nvls" in allowed(found)) == (gpus >= least)
    assert "nvls" in found.algorithms


@pytest.mark.parametrize("op", ["broadcast", "reduce"])
def test_broadcast_and_reduce_have_a_ring_only(situation, op):
    assert menu(situation(), op).algorithms == ("ring",)
    assert menu(situation(nodes=1), op).algorithms == ("ring",)


@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter"])
def test_pat_needs_one_gpu_a_node_and_2_23(situation, op):
    one = situation(node_ranks=1, nodes=8)
    assert allowed(menu(one, op, "2.23")) == {"ring", "pat"}
    assert allowed(menu(one, op, "2.22")) == {"ring"}
    found = menu(situation(), op, "2.23")
    assert allowed(found) == {"ring"}
    assert dict(found.ruled_out)["pat"] == "it needs one rank a node, and a node has 8"


@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter"])
def test_nvls_of_a_gather_runs_when_asked_for(situation, op):
    assert allowed(menu(situation(nodes=1), op)) == {"ring"}
    assert allowed(menu(situation(nodes=1), op, NCCL_ALGO="NVLS")) == {"nvls"}


def test_collnet_is_off_by_default_and_needs_switches_that_add(situation):
    assert "collnet_direct" not in menu(situation()).algorithms
    found = menu(situation(in_network=True))
    assert "collnet_direct" not in allowed(found)
    assert {c.fix for c in found.candidates if c.algorithm == "collnet_chain"} == {("NCCL_COLLNET_ENABLE=1",)}
    assert "collnet_direct" in allowed(menu(situation(in_network=True), NCCL_COLLNET_ENABLE="1"))
    high = menu(situation(in_network=True), NCCL_COLLNET_ENABLE="1", NCCL_COLLNET_NODE_THRESHOLD="8")
    assert "collnet_direct" not in allowed(high)


def test_pxn_is_what_all_to_all_does_between_nodes(situation):
    assert allowed(menu(situation(), "all_to_all")) == {"pxn"}
    assert allowed(menu(situation(), "all_to_all", NCCL_PXN_DISABLE="1")) == {"pairwise"}
    assert allowed(menu(situation(), "all_to_all", NCCL_P2P_PXN_LEVEL="0")) == {"pairwise"}
    assert allowed(menu(situation(nodes=1), "all_to_all")) == {"pairwise"}
    assert allowed(menu(situation(scale_up="pcie", multicast=False), "all_to_all")) == {"pairwise"}


@pytest.mark.parametrize("op", ["gather", "scatter", "send_recv"])
def test_sends_and_receives_do_not_look_at_lists(situation, op):
    assert allowed(menu(situation(), op, NCCL_ALGO="Tree", NCCL_PROTO="LL")) == {"pxn"}


def test_ll128_needs_nvlink_and_a_generation_that_has_it(situation):
    def protocols(**changes):
        found = menu(situation(nodes=1, **changes))
        return {c.protocol for c in found.candidates if c.algorithm == "ring"}

    assert protocols() == {"ll", "ll128", "simple"}
    assert protocols(gpu="rtx-4090", scale_up="pcie", multicast=False) == {"ll", "simple"}
    assert protocols(gpu="h100-pcie", scale_up="pcie", multicast=False) == {"ll", "simple"}


@pytest.mark.parametrize(
    ("gpu", "version", "has"),
    [("mi300x", "2.21", False), ("mi300x", "2.22.3", True), ("mi355x", "2.22", False)],
)
def test_rccl_has_ll128_by_version_and_generation(situation, gpu, version, has):
    found = menu(situation(gpu=gpu, scale_up="mesh", multicast=False), version=version, library="rccl")
    assert ("ll128" in {c.protocol for c in found.candidates}) == has
    assert found.algorithms == ("ring", "tree")


def test_lists_narrow_the_menu(situation):
    assert allowed(menu(situation(), NCCL_ALGO="Tree")) == {"tree"}
    assert allowed(menu(situation(), NCCL_ALGO="^Ring")) == {"tree", "nvls_tree"}
    assert allowed(menu(situation(), NCCL_ALGO="ring;allreduce:^tree,ring")) == {"nvls_tree"}
    assert allowed(menu(situation(), "all_gather", NCCL_ALGO="allreduce:tree")) == {"ring"}
    found = menu(situation(), NCCL_PROTO="^LL,LL128")
    assert {c.protocol for c in found.candidates if not c.fix} == {"simple"}
    assert ("NCCL_PROTO=LL",) in {c.fix for c in found.candidates}


def test_a_list_that_leaves_nothing_means_a_ring_before_2_24_and_is_refused_since(situation):
    assert allowed(menu(situation(), "all_gather", "2.23", NCCL_ALGO="Tree")) == {"ring"}
    with pytest.raises(InputError, match="NCCL_ALGO=Tree: nothing is left for all_gather here"):
        menu(situation(), "all_gather", "2.24", NCCL_ALGO="Tree")


def test_nvls_on_a_pcie_box_is_one_clear_line(situation):
    with pytest.raises(InputError) as caught:
        menu(situation(nodes=1, scale_up="pcie", multicast=False, gpu="l40s"), NCCL_ALGO="NVLS")
    assert "nvls: it needs NVSwitches, and the GPUs of these servers share PCIe only" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_peer_to_peer_off_takes_nvls_and_ll128_away(situation):
    found = menu(situation(nodes=1), NCCL_P2P_DISABLE="1")
    assert allowed(found) == {"ring", "tree"}
    assert {c.protocol for c in found.candidates if not c.fix} == {"ll", "simple"}
