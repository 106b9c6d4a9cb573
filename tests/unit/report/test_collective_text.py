"""What ``--explain`` says: the right reason for every kind of job."""

from dataclasses import replace

import pytest

from gpufabric.jobs.collective import CollectiveOptions, predict_collective
from gpufabric.libraries.choose import Forced
from gpufabric.records.results import ConsideredTime
from gpufabric.report.collective_text import collective_text

GIB8 = 8 << 30


def explained(wired, op="all_reduce", sizes=(GIB8,), algorithm="ring", **options):
    forced = Forced(algorithm) if algorithm else Forced()
    results = predict_collective(*wired, op, list(sizes), CollectiveOptions(forced=forced, **options))
    return results, {line.split(":")[0]: line for line in collective_text(results).splitlines()}


@pytest.fixture(scope="module")
def rails(wire):
    return wire("dgx-h100", 64, "rail-optimized", "qm9790", ", unit_servers: 16")


def test_a_ring_in_order_reaches_the_line_rate_of_a_node(rails):
    (result,), said = explained(rails)
    assert said["Line rate"].startswith(
        "Line rate: the NICs of one node carry 400 GB/s one way; expected is "
    )
    assert "below the line rate" in said["Line rate"]
    assert "would show 400 GB/s on this wiring (1 × line rate)" in said["Line rate"]
    assert "just what bus bandwidth counts" in said["Line rate"]
    assert "NIC to leaf link (400 Gb/s) with 1 message at a time" in said["Held back by"]
    assert result.ceiling_name in said["Ceiling"]
    assert "512 GPUs in 64 nodes" in next(text for key, text in said.items() if key.startswith("Expect"))


def test_two_nodes_may_exceed_what_their_nics_carry(rails):
    (result,), said = explained(rails, ranks=16, algorithm="nvls_tree")
    assert result.wired_busbw_bytes_per_s == pytest.approx(1.875 * result.line_rate_bytes_per_s)
    assert "(1.88 × line rate), because GPUs or NVSwitches add inside a node first" in said["Line rate"]
    assert (
        "carry 1 S each way (S is the message), not the 1.88 S that bus bandwidth counts" in said["Line rate"]
    )
    assert "SHARP" not in said["Ceiling"]


def test_nvswitches_lift_one_server_above_its_links(rails):
    (result,), said = explained(rails, ranks=8, algorithm="nvls")
    assert result.line_rate_bytes_per_s == pytest.approx(450e9)
    assert "the links of a GPU to the others carry 450 GB/s" in said["Line rate"]
    assert "(1 + 1/n) S each way" in said["Line rate"]
    assert "Shuffled ranks" not in said


@pytest.mark.slow
def test_hashed_shuffled_ranks_wait_for_the_fullest_link(rails):
    _, said = explained(rails, order="shuffled", routing="ecmp")
    assert "hashed flows of shuffled ranks meet on one link" in said["Line rate"]
    assert "messages at a time" in said["Held back by"]


def test_forwarding_tables_are_named_where_they_crowd_a_link(rails):
    _, said = explained(rails, order="shuffled", routing="static")
    assert "forwarding tables put several messages on one link" in said["Line rate"]


def test_oversubscription_is_named_where_traffic_goes_up(wire):
    thin = wire("dgx-h100", 64, "rail-optimized", "qm9790", ", unit_servers: 16, oversubscription: '4:1'")
    _, said = explained(thin, order="shuffled")
    assert (
        "the leaf-spine links are full before the NICs are: shuffled neighbours lie anywhere"
        in said["Line rate"]
    )
    _, said = explained(thin, op="all_to_all", algorithm=None)
    assert "one GPU's part of its node's NICs is 50 GB/s" in said["Line rate"]
    assert "more bytes have to go up than the uplinks carry" in said["Line rate"]


def test_shuffled_ranks_get_a_paragraph_of_their_own(rails):
    results, said = explained(rails, routing="ecmp", compare_shuffled=True)
    assert len(results) == 2
    left = results[1].busbw_bytes_per_s / results[0].busbw_bytes_per_s
    assert f"{left:.0%}".replace("%", " %") in said["Shuffled ranks"]
    _, said = explained(rails, compare_shuffled=True)
    assert said["Shuffled ranks"] == "Shuffled ranks: within 5 % of this."


def test_a_short_message_is_about_steps_not_about_rates(rails):
    (result,), said = explained(rails, sizes=(8,), algorithm=None)
    assert "the number of steps matters more" in said["Time"]
    assert "too short to fill the links" in said["Line rate"]
    assert result.bottleneck in said["Held back by"]


def test_the_smallest_of_several_sizes_is_told_too(rails):
    _, said = explained(rails, sizes=(1 << 20, GIB8))
    assert said["At 1M"].startswith("At 1M: ")


def test_candidates_are_slower_or_not_used_but_not_both(rails):
    _, said = explained(rails, op="all_to_all", algorithm=None)
    assert "Not used: pairwise (PXN is on" in said["Algorithm"]
    assert "Slower: pairwise" not in said["Algorithm"]


def test_faults_settings_and_an_unknown_kind_are_told(rails):
    (result,), _ = explained(rails)
    told = collective_text([
        replace(
            result,
            healthy_busbw_bytes_per_s=2 * result.busbw_bytes_per_s,
            attainable_settings=("NCCL_MIN_CTAS=24",),
            clusters=0,
            line_rate_bytes_per_s=None,
        )
    ])  # fmt: skip
    assert "50 % of it is left" in told
    assert "with NCCL_MIN_CTAS=24" in told
    assert "no published measurement is of this kind" in told
    assert "Line rate: not known here." in told


def test_a_faster_candidate_that_the_library_can_not_know_of_is_named(rails):
    (result,), said = explained(rails)
    faster = ConsideredTime("tree", "simple", result.time_s / 2, result.time_s * 2)
    asked_for = replace(faster, algorithm="nvls_tree", settings=("NCCL_ALGO=NVLSTree",))
    assert "would end sooner" not in said["Algorithm"]
    text = collective_text([replace(result, considered=(faster, asked_for), ruled_out=())])
    assert "Here tree/simple (" in text
    assert "would end sooner: the library sees neither switches nor the order of the ranks" in text
    assert "nvls_tree" not in text


def test_only_rings_and_trees_have_channels_to_count(rails):
    assert "channel" not in explained(rails, ranks=8, algorithm="nvls")[1]["Algorithm"].split(".")[0]
    assert " over 8 channels" in explained(rails)[1]["Algorithm"]


def test_a_fabric_without_uplinks_is_not_said_to_have_them(rails):
    (result,), _ = explained(rails)
    shares = {"leaf-leaf": 1.0, "nic": 0.7}
    text = collective_text(
        [replace(result, nominal_shares=shares, wired_busbw_bytes_per_s=0.7 * result.line_rate_bytes_per_s)]
    )
    assert "leaf-leaf links are full before the NICs are: more bytes cross the busiest of them" in text
    assert "uplink" not in text


def test_uneven_nics_are_told_by_their_even_part(rails):
    (result,), _ = explained(rails)
    wired = 4 / 9 * result.line_rate_bytes_per_s
    text = collective_text([replace(result, nominal_shares={"nic": 1.0}, wired_busbw_bytes_per_s=wired)])
    assert (
        "the fullest NIC of a node carries 2.25 times its even part of the 2 S that bus bandwidth counts"
        in text
    )


def test_short_shuffled_messages_are_slower_because_neighbours_are_further_apart(rails):
    (short,), _ = explained(rails, sizes=(1024,))
    shuffled = replace(
        short, rank_order="shuffled(seed=0)", latency_s=1.2 * short.latency_s, time_s=1.2 * short.time_s
    )
    last = collective_text([short, shuffled]).splitlines()[-1]
    assert last.endswith("; neighbours are further apart, so that a step crosses more switches and cable.")
    same = replace(shuffled, latency_s=short.latency_s)
    assert collective_text([short, same]).splitlines()[-1].endswith("between nodes.")


def test_what_was_not_searched_is_not_told(rails):
    (result,), _ = explained(rails)
    assert "Attainable: not searched for so many ranks." in collective_text(
        [replace(result, attainable_busbw_bytes_per_s=None)]
    )


def test_how_few_clusters_had_both_kinds_of_links_is_said(rails):
    (result,), said = explained(rails)
    assert "both these links" not in said["Range"]
    for count, words in ((1, "only one of them had both"), (0, "none of them had both")):
        assert words in collective_text([replace(result, clusters_together=count)])
