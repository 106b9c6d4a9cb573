"""The configured choice is the fastest that is allowed, the attainable one the fastest that can be set."""

import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.catalog.load_library import load_library
from gpufabric.errors import InputError
from gpufabric.libraries.choose import Forced, choose
from gpufabric.libraries.read_settings import read_settings
from gpufabric.records.priced_algorithm import PricedMenu

GIB8 = 8 << 30


LIBRARY = Forced()


def chosen(situation, priced, size=GIB8, forced=LIBRARY, version=None, **settings):
    model = load_library("nccl", version)
    by_name = PricedMenu({one.algorithm: one for one in priced})
    return choose(
        model, read_settings(model, settings), situation, by_name, load_collective_calibration(), size, forced
    )


def test_the_fastest_that_is_allowed_is_configured(situation, priced):
    both = [priced("ring"), priced("tree", inside_steps=14, fabric_steps=4, line_bytes_per_s=150e9)]
    assert chosen(situation(), both).configured.algorithm == "ring"
    small = chosen(situation(), both, size=1024)
    assert (small.configured.algorithm, small.configured.protocol) == ("tree", "ll")
    times = [one.estimate.time_s for one in small.considered]
    assert times == sorted(times)


def test_what_the_library_can_not_know_does_not_change_what_it_runs(situation, priced):
    rates = {"inside_bytes_per_s": 400e9, "ports_bytes_per_s": 200e9}
    # On quiet wires the tree ends first; hashes of this wiring hold it back, and the ring not.
    ring = priced(
        "ring",
        line_bytes_per_s=120e9,
        fabric_bytes_per_s=180e9,
        inside_bytes_per_s=400e9,
        ports_bytes_per_s=120e9,
    )
    held = priced(
        "tree",
        inside_steps=14,
        fabric_steps=4,
        line_bytes_per_s=50e9,
        fabric_bytes_per_s=50e9,
        path_latency_s=1.0,
        **rates,
    )
    found = chosen(situation(gpu="a100-sxm4-80gb", multicast=False), [ring, held])
    assert found.configured.algorithm == "tree"
    assert found.attainable.algorithm == "ring"
    assert found.settings == ("NCCL_ALGO=Ring",)
    assert found.quiet_s < found.configured.time_s
    by_name = {(one.estimate.algorithm, one.estimate.protocol): one for one in found.considered}
    free = priced("tree", inside_steps=14, fabric_steps=4, path_latency_s=0.0, **rates)
    assert found.quiet_s == chosen(situation(gpu="a100-sxm4-80gb", multicast=False), [ring, free]).quiet_s
    assert min(one.quiet_s for one in by_name.values() if not one.settings) == found.quiet_s


def test_what_lies_between_configured_and_attainable_is_named(situation, priced):
    fast = dict.fromkeys(("line_bytes_per_s", "inside_bytes_per_s", "fabric_bytes_per_s"), 400e9)
    added = [priced("ring"), priced("collnet_chain", **fast)]
    found = chosen(situation(in_network=True), added)
    assert found.configured.algorithm == "ring"
    assert found.attainable.algorithm == "collnet_chain"
    assert found.settings == ("NCCL_COLLNET_ENABLE=1",)
    assert ("collnet_chain", "CollNet is off by default") in found.ruled_out
    on = chosen(situation(in_network=True), added, NCCL_COLLNET_ENABLE="1")
    assert on.configured == on.attainable
    assert on.settings == ()


def test_more_channels_lift_the_rating_of_another_algorithm(situation, priced):
    both = [
        priced("ring"),
        priced("nvls_tree", inside_steps=2, fabric_steps=4, line_bytes_per_s=170e9, fabric_bytes_per_s=170e9),
    ]
    found = chosen(situation(), both)
    assert (found.configured.algorithm, found.attainable.algorithm) == ("nvls_tree", "ring")
    assert found.settings == ("NCCL_MIN_CTAS=24", "NCCL_IB_QPS_PER_CONNECTION=2")
    assert chosen(situation(), both, NCCL_MIN_CTAS="24").configured.algorithm == "ring"
    assert chosen(situation(nodes=2), both).configured.algorithm == "ring"


def test_a_list_shows_up_as_the_setting_that_is_in_the_way(situation, priced):
    both = [priced("ring"), priced("tree", line_bytes_per_s=50e9, fabric_bytes_per_s=50e9)]
    assert chosen(situation(), both, NCCL_ALGO="Tree").settings[0] == "NCCL_ALGO=Ring"


def test_what_is_forced_is_configured_even_outside_of_the_menu(situation, priced):
    what_if = [priced("ring"), priced("hierarchical")]
    found = chosen(situation(), what_if, forced=Forced("hierarchical"))
    assert (found.configured.algorithm, found.configured.protocol) == ("hierarchical", "simple")
    assert chosen(situation(), what_if, forced=Forced("ring", "ll")).configured.protocol == "ll"


@pytest.mark.parametrize(
    ("forced", "message"),
    [
        (
            Forced("nvls"),
            "algorithm nvls: it stays inside one node, and the job has several; allowed here: ring",
        ),
        (
            Forced("ring", "LL"),
            'protocol "LL" can\'t be used here; allowed: ll, ll128, simple. Did you mean "ll"?',
        ),
        (Forced("direct", "ll128"), 'protocol "ll128" can\'t be used here; allowed: simple'),
    ],
)
def test_what_can_not_be_forced_is_one_line(situation, priced, forced, message):
    with pytest.raises(InputError) as caught:
        chosen(situation(), [priced("ring")], forced=forced)
    assert message in str(caught.value)


def test_fewer_channels_than_rails_leave_nics_idle(situation, priced):
    whole = chosen(situation(), [priced("ring")], forced=Forced(None, "simple")).configured
    half = chosen(situation(), [priced("ring")], forced=Forced(None, "simple"), NCCL_MAX_CTAS="4").configured
    assert half.wire_s == pytest.approx(2 * whole.wire_s, rel=0.05)
    assert half.channels == 4


def test_channels_bound_what_leaves_a_rack_of_72(situation, priced):
    rack = situation(node_ranks=72, node_nics=72, gpu="gb200", domain_servers=18)
    many = priced(
        "ring",
        ranks=288,
        channels=72,
        line_bytes_per_s=450e9,
        inside_bytes_per_s=450e9,
        fabric_bytes_per_s=900e9,
    )
    before = chosen(rack, [many], version="2.24", forced=Forced(None, "simple")).configured
    since = chosen(rack, [many], version="2.25", forced=Forced(None, "simple")).configured
    # 32 of 72 NICs carry 400 of the 900 GB/s before 2.25, 64 of them 800 since.
    assert before.wire_s > GIB8 / 400e9
    assert GIB8 / 450e9 < since.wire_s < 0.99 * before.wire_s
    assert before.channels == 32


def test_named_adapters_are_the_only_ones_used(situation, priced):
    whole = chosen(situation(), [priced("ring")], forced=Forced(None, "simple")).configured
    two = chosen(
        situation(), [priced("ring")], forced=Forced(None, "simple"), NCCL_IB_HCA="=mlx5_0,mlx5_1"
    ).configured
    assert two.wire_s == pytest.approx(4 * whole.wire_s, rel=0.05)
