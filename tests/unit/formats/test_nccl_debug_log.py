"""What logs of NCCL say, new and old, whole and cut."""

import io
import math
from pathlib import Path

import pytest

from gpufabric.formats import nccl_debug_log

CAPTURED = Path(__file__).parents[2] / "captured" / "nccl-debug"


def read(name: str):
    return nccl_debug_log.read(CAPTURED / name)


def rules(log) -> list[str]:
    return [finding.rule for finding in log.findings]


def test_two_nodes_under_srun():
    log = read("two-nodes-srun.txt")
    assert (log.library, log.version, log.networks) == ("NCCL", "2.21.5+cuda12.4", ("IB",))
    (one,) = log.communicators
    assert (one.id, one.size, one.nodes, one.multi_node_nvlink) == ("0x77aa01", 4, 2, False)
    assert one.rank_order() == (("gn-a1", 0), ("gn-a1", 1), ("gn-b7", 0), ("gn-b7", 1))
    assert [(rank.bus_id, rank.local_rank, rank.cpu_affinity) for rank in one.ranks] == [
        ("1b000", 0, "0fff"),
        ("43000", 1, "0fff"),
    ] * 2
    assert [(ring.ranks, ring.complete, ring.source) for ring in one.rings] == [
        ((0, 1, 3, 2), True, "whole")
    ] * 2
    assert [(tree.roots, tree.children(0), tree.children(2)) for tree in one.trees] == [
        ((0,), (1, 2), (3,))
    ] * 2
    assert dict(one.channels) == {"coll": 2, "collnet": 2, "nvls": 0, "p2p": 2}
    assert {(c.channel, c.device, c.gdr) for c in one.connections if c.transport == "NET"} == {
        (0, 0, True),
        (1, 1, True),
    }
    assert log.transports() == (("NET/IB/GDRDMA", 8), ("P2P", 4))
    assert [(nic.host, nic.name, nic.port, nic.link) for nic in log.nics] == [
        (host, name, 1, link)
        for host in ("gn-a1", "gn-b7")
        for name, link in (("mlx5_2", "IB"), ("mlx5_5", "RoCE"))
    ]
    assert (log.pxn, log.gdr, log.init_s) == (False, True, 1.23)
    (choice,) = log.choices
    assert (
        choice.op,
        choice.size_bytes,
        choice.algorithm,
        choice.protocol,
        choice.channels,
        choice.count,
    ) == (
        "all_reduce",
        1048576,
        "tree",
        "ll128",
        (0, 1),
        2,
    )


def test_secrets_around_the_log_are_counted_and_never_shown():
    log = read("two-nodes-srun.txt")
    assert log.lines_not_understood == 2
    assert rules(log) == ["input-lines", "input-lines", "nccl-warning"]
    assert log.settings == (("NCCL_IB_HCA", "mlx5_2,mlx5_5"),)
    shown = str(log)
    assert not any(secret in shown for secret in ("hunter2", "do-not-show", "HF_TOKEN"))


def test_the_value_of_a_setting_that_smells_of_a_secret_is_removed(tmp_path):
    path = tmp_path / "log"
    prefix = "n1:1:2 [0] NCCL INFO "
    path.write_text(
        f"{prefix}NCCL_PLUGIN_API_KEY set by environment to abcdef.\n"
        f"{prefix}NCCL_PROXY set by environment to http://me:pass@host:1.\n"
        "n1:1:2 [0] a.cc:1 NCCL WARN login failed password=abcdef\n"
    )
    log = nccl_debug_log.read(path)
    assert dict(log.settings) == {"NCCL_PLUGIN_API_KEY": "[removed]", "NCCL_PROXY": "http://[removed]@host:1"}
    assert log.warnings[0].text == "login failed password=[removed]"
    assert "abcdef" not in str(log)


def test_old_trees_have_their_parent_first():
    (one,) = read("old-tree-order.txt").communicators
    assert [(tree.roots, tree.children(0), tree.children(1)) for tree in one.trees] == [
        ((0,), (1,), (2,))
    ] * 2
    assert [(ring.ranks, ring.complete) for ring in one.rings] == [((0, 1, 2), True)]
    assert [(c.source, c.target, c.transport) for c in one.connections] == [
        (0, 1, "SHM"),
        (1, 2, "SHM"),
        (2, 0, "SHM"),
    ]


@pytest.mark.parametrize(
    "text", ["1/-1/-1->0->-1", "1/-1/-1->0->-1|-1->0->1/-1/-1", "-1->0->1/-1/-1"], ids=["2.8", "2.5", "2.4"]
)
def test_all_spellings_of_a_tree_say_the_same(tmp_path, text):
    path = tmp_path / "log"
    path.write_text(f"n1:1:2 [0] NCCL INFO Trees [0] {text} [1] {text}\n")
    (one,) = nccl_debug_log.read(path).communicators
    assert [tree.up for tree in one.trees] == [((0, -1), (1, 0))] * 2


def test_a_ring_that_the_log_cuts_is_not_complete():
    log = read("ring-cut-24-ranks.txt")
    (ring,) = log.communicators[0].rings
    assert (ring.ranks, ring.complete) == (tuple(range(20)), False)
    assert rules(log) == ["nccl-ring-unknown"]


def test_connections_alone_do_not_tell_a_ring(tmp_path):
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"n1:1:{r} [{r}] NCCL INFO Channel 00 : {r}[{r}000] -> {(r + 1) % 3}[x] via P2P/IPC\n"
            for r in range(3)
        )
        + "n1:1:9 [0] NCCL INFO Channel 00 : 0[6000] -> 2[b000] via P2P/IPC\n"
    )
    log = nccl_debug_log.read(path)
    assert log.communicators[0].rings == ()
    assert rules(log) == ["nccl-ring-unknown"]


def test_communicators_of_the_same_processes_stay_apart():
    first, second = read("two-communicators.txt").communicators
    assert first.rank_order() == (("two-c", 0), ("two-c", 1))
    assert second.rank_order() == (("two-c", 1), ("two-c", 0))
    assert [ring.ranks for one in (first, second) for ring in one.rings] == [(0, 1), (0, 1)]
    assert [len(one.connections) for one in (first, second)] == [2, 2]


def test_tuning_tables_of_both_ages():
    log = read("tuning-both-headers.txt")
    old = log.tuning[:3]
    assert [(c.algorithm, c.protocol) for c in old] == [("Tree", "LL"), ("Tree", "LL128"), ("Ring", "Simple")]
    assert [c.latency_s for c in old] == pytest.approx([6.5e-6, 9e-6, 20.5e-6])
    assert [c.bytes_per_s for c in old] == pytest.approx([1.25e9, 2.5e9, 40e9])
    assert [c.max_threads for c in old] == [512, 640, 256]
    new = log.tuning[3:]
    assert {c.max_threads for c in new} == {-1}
    assert [(c.op, c.algorithm, c.protocol) for c in new[3:]] == [
        ("all_gather", "Ring", p) for p in ("LL", "LL128", "Simple")
    ]
    assert new[4].bytes_per_s == pytest.approx(18.4e9)
    assert math.isnan(new[5].bytes_per_s)
    assert rules(log) == ["input-cut"]


def test_the_system_tree_and_the_graph():
    log = read("system-tree.txt")
    assert (log.library, log.version) == ("RCCL", "2.22.3-HEAD:abc1234")
    assert [(n.kind, n.parent, n.link) for n in log.system] == [
        ("CPU", -1, ""),
        ("PCI", 0, "PCI"),
        ("GPU", 1, "PCI"),
        ("GPU", 2, "XGMI"),
        ("NIC", 1, "PCI"),
        ("NET", 4, "NET"),
    ]
    assert log.system[5].bytes_per_s == 50e9
    (graph,) = log.graphs
    assert (graph.pattern, graph.type_inter) == ("ring", "PXB")
    assert (graph.channels[0].gpus, graph.channels[0].nets) == (("0-7000", "0-8000"), ("0", "0"))


def test_lines_joined_into_one_are_parted(tmp_path):
    text = (CAPTURED / "two-nodes-srun.txt").read_text().splitlines()
    path = tmp_path / "log"
    path.write_text("\n".join(" ".join(text[i : i + 2]) for i in range(0, len(text), 2)))
    joined, whole = nccl_debug_log.read(path), read("two-nodes-srun.txt")
    assert joined.communicators[0].rank_order() == whole.communicators[0].rank_order()
    assert len(joined.communicators[0].connections) == 12


def test_a_file_without_nccl_says_so(tmp_path):
    path = tmp_path / "log"
    path.write_text("hello\n")
    log = nccl_debug_log.read(path)
    assert (log.communicators, log.lines_not_understood) == ((), 1)
    assert rules(log) == ["input-lines", "input-cut"]


def test_connections_beyond_the_limit_are_counted_by_transport(monkeypatch):
    raw = (CAPTURED / "two-nodes-srun.txt").read_bytes()
    whole = nccl_debug_log.read(io.BytesIO(raw), "f")
    monkeypatch.setattr(nccl_debug_log, "MAX_CONNECTIONS", 5)
    short = nccl_debug_log.read(io.BytesIO(raw), "f")
    assert short.transports() == whole.transports()
    assert sum(len(one.connections) for one in short.communicators) == 5
    assert any("counted by transport only" in finding.message for finding in short.findings)
