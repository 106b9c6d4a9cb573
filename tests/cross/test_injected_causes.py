"""Causes put into predicted logs of several server types, with what a user would hand in beside them: we name them."""

from __future__ import annotations

import io
import sys
from functools import cache

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.nccl_tests_write import write_nccl_tests
from gpufabric.jobs.check import check
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described

SIZES = (256 << 20, 1 << 30, 4 << 30, 8 << 30)
#: Server type → its description for eight servers on two leaves or rails, its GPU as logs print it, NICs a server.
TYPES = {
    "dgx-a100": ("hgx-a100", "qm8790", "NVIDIA A100-SXM4-80GB"),
    "dgx-h100": ("dgx-h100", "qm9700", "NVIDIA H100 80GB HBM3"),
    "dgx-h200": ("dgx-h200", "qm9700", "NVIDIA H200"),
    "dgx-b200": ("dgx-b200", "qm9700", "NVIDIA B200"),
    "roce-h100": ("hgx-h100", "sn5600", "NVIDIA H100 80GB HBM3"),
}
HOSTS = [(f"n{i:02d}", 8) for i in range(8)]


def spec_of(name, extra=""):
    server, switch, _ = TYPES[name]
    return parse_cluster_spec(
        f"servers: {{model: {server}, count: 8}}\n"
        f"fabrics: {{topology: leaf-spine, switch: {switch}, unit_servers: 4{extra}}}\n",
        name,
    )


@cache
def predicted(name, hosts=8):
    results = predict_described(spec_of(name), "all_reduce", SIZES, CollectiveOptions(ranks=8 * hosts))
    return [(r.size_bytes, r.time_s) for r in results]


def log(name, slower=1.0, hosts=8, sizes=SIZES):
    times = [(size, time * slower) for size, time in predicted(name, hosts) if size in sizes]
    return write_nccl_tests("all_reduce", HOSTS[:hosts], TYPES[name][2], times)


def nccl(*lines):
    return "".join(f"n00:100:101 [0] NCCL INFO {line}\n" for line in lines)


def nets(count, detail="/GDRDMA", network="IB", shift=0):
    """Return connections of *count* channels from n00 to n01; arriving on another NIC with *shift*."""
    out = nccl(
        *(
            f"Channel {c:02d}/0 : {c}[{c}] -> {8 + c}[{c}] [send] via NET/{network}/{c}{detail}"
            for c in range(count)
        )
    )
    into = "".join(
        f"n01:200:201 [0] NCCL INFO Channel {c:02d}/0 : {c}[{c}] -> {8 + c}[{c}] [receive] via"
        f" NET/{network}/{(c + shift) % count}{detail}\n"
        for c in range(count)
    )
    return out + into


def using(count):
    return nccl(
        "NET/IB : Using " + " ".join(f"[{i}]mlx5_{i}:1/IB" for i in range(count)) + " ; OOB eth0:192.0.2.1<0>"
    )


def lspci(redirect="-", speed="32GT/s", width="x16", bridge_width="x16"):
    return f"""0000:10:00.0 PCI bridge: Example Corp Switch (rev 04)
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width {bridge_width}, ASPM not supported
\t\tLnkSta:\tSpeed 32GT/s, Width {bridge_width}
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir{redirect} CmpltRedir{redirect} UpstreamFwd{redirect} EgressCtrl- DirectTrans-

0000:18:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed {speed}, Width {width}
"""


def matrix(own):
    """Return a topo -m of eight GPUs and NICs where each GPU's own NIC is *own* and the others are SYS."""
    names = [f"GPU{i}" for i in range(8)] + [f"NIC{i}" for i in range(8)]
    rows = ["\t" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity"]
    for i in range(8):
        cells = [" X " if i == j else "NV18" for j in range(8)] + [own if i == j else "SYS" for j in range(8)]
        rows.append(f"GPU{i}\t" + "\t".join(cells) + "\t0-47\t0")
    for i in range(8):
        cells = [own if i == j else "SYS" for j in range(8)] + [" X " if i == j else "SYS" for j in range(8)]
        rows.append(f"NIC{i}\t" + "\t".join(cells))
    return "\n".join(rows) + "\n"


IBQUERY = """Errors for 0xb8599f0300b00001 "MF0;leaf1:MQM9700/U1"
   GUID 0xb8599f0300b00001 port 3: [SymbolErrorCounter == 4000] [LinkDownedCounter == 5]
"""
ETHTOOL = """root@n00:~# ethtool -S enp24s0
NIC statistics:
     rx_packets: 123456789
     rx_prio3_pause: 4400000
     rx_out_of_buffer: 60000
"""
IBSTAT = """CA 'mlx5_1'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: {good}
\t\tLink layer: InfiniBand
CA 'mlx5_4'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Down
\t\tPhysical state: Polling
\t\tRate: 10
\t\tLink layer: InfiniBand
"""
NVLINK = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-4000-8000-000000000000)
\t Link 0: 26.562 GB/s
\t Link 1: 26.562 GB/s
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-4000-8000-000000000001)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
"""
VIRTUAL = nccl(
    "=== System : maxBw 50.0 totalBw 450.0 ===",
    "CPU/0-0 (1/1/2)",
    "+ PCI[0.2] - PCI/0-8000 (11f8405611f8beef)",
    "             + PCI[48.0] - GPU/0-9000 (0)",
    "==========================================",
)
#: What is injected: its causes, how many times slower the log is, and the texts given beside it.
INJECTED = {
    "link with errors": ({"link-errors"}, 2.2, [IBQUERY, using(8) + nets(8)]),
    "receiver that pauses": ({"link-paused"}, 2.5, [ETHTOOL]),
    "port down": ({"port-down", "nics-unused"}, 4.0, [IBSTAT.format(good=400)]),
    "sockets": ({"socket-transport"}, 20.0, [nccl("Using network Socket") + nets(2, "", "Socket")]),
    "GPUDirect off": ({"gpudirect-off"}, 2.5, [using(8) + nets(8, "")]),
    "ACS on": ({"acs-on"}, 2.3, [lspci("+"), using(8) + nets(8)]),
    "two of eight NICs": ({"nics-unused"}, 4.0, [using(2) + nets(2)]),
    "one NIC by a setting": ({"nics-unused"}, 8.0, ["mpirun -x NCCL_IB_HCA=mlx5_0 all_reduce_perf"]),
    "rings change rail": ({"ring-changes-rail"}, 2.6, [using(8) + nets(8, shift=1)]),
    "PCIe x8": ({"pcie-reduced"}, 2.2, [lspci(width="x8 (downgraded)"), using(8) + nets(8)]),
    "virtual machine": ({"topology-hidden"}, 3.0, [VIRTUAL]),
    "virtual machine by its matrix": ({"topology-hidden"}, 3.0, [matrix("SYS")]),
    "NVLinks missing": ({"nvlinks-missing"}, 2.4, [NVLINK, using(8) + nets(8)]),
    "adaptive routing off": (
        {"adaptive-routing-off"},
        2.6,
        ["NCCL_IB_ADAPTIVE_ROUTING=0", using(8) + nets(8)],
    ),
    "few channels": ({"few-channels"}, 6.0, ["NCCL_MAX_NCHANNELS=1"]),
    "protocol forced": ({"algorithm-forced"}, 3.0, ["NCCL_PROTO=LL"]),
    "one NIC, by its rate alone": ({"nics-unused"}, 8.0, []),
    "peer to peer off": ({"p2p-off"}, 3.0, ["NCCL_P2P_DISABLE=1"]),
}
CASES = [(kind, name) for kind in INJECTED for name in TYPES]


def first_three(kind, name):
    _, slower, texts = INJECTED[kind]
    files = [io.BytesIO(text.encode()) for text in (log(name, slower), *texts)]
    verdict = check(spec_of(name), files).verdicts[0]
    return verdict.verdict, [cause.id for cause in verdict.causes[:3]]


@pytest.mark.slow
def test_injected_causes_are_among_the_first_three_in_nine_of_ten(capsys):
    missed = []
    for kind, name in CASES:
        _, found = first_three(kind, name)
        if not INJECTED[kind][0] & set(found):
            missed.append((kind, name, found))
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(CASES) - len(missed)} of {len(CASES)} injected causes among the first three\n"
        )
        for one in missed:
            sys.stdout.write(f"missed {one}\n")
    assert len(INJECTED) >= 15
    assert len(missed) <= 0.1 * len(CASES)


@pytest.mark.parametrize("name", TYPES)
def test_a_log_as_predicted_is_healthy_and_names_no_fault(name):
    verdict = check(spec_of(name), [io.BytesIO(log(name).encode())]).verdicts[0]
    assert verdict.verdict in {"healthy", "cannot tell"}
    assert [c.id for c in verdict.causes if c.confidence >= 0.6 and c.id not in ("at-the-ceiling",)] == []
