"""Real FRRouting in network namespaces, on configurations as they are exported; and nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpufabric.cli.run import run
from gpufabric.exports import EXPORTS
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.lab_ip import LabIpOptions, lab_ip, scaled_fabric
from gpufabric.lab.host_networks import laid_network
from gpufabric.lab.isolated_machine import isolated_machine
from gpufabric.records.export_target import ExportSource
from gpufabric.topologies import build_cluster, resolve_parts

pytestmark = [pytest.mark.real, pytest.mark.slow]
SMALL = """name: small
servers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 8}
fabrics: {name: gpu, topology: rail-optimized, unit_servers: 4, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""
PODS = """name: pods
servers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 24}
fabrics: {name: gpu, topology: fat-tree, tiers: 3, switch: {ports: 8, rate: 100 Gb/s, network: ethernet}}
"""


@pytest.fixture(autouse=True)
def programs(require_program):
    require_program("ip")
    require_program("vtysh")


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")


def spec(text):
    return parse_cluster_spec(text, "lab.yaml")


def test_three_tiers_get_over_lost_links(root):
    found = lab_ip(spec(PODS), LabIpOptions(numbered=True, bfd=True))
    assert [
        (check.name, check.verdict, check.found) for check in found.checks if check.verdict != "pass"
    ] == []
    assert len(found.checks) == 5
    assert found.findings == ()
    assert found.checks[0].expected == "24 ways on 4 leaves"
    assert found.devices == {"servers": 8, "leaves": 4, "spines": 4, "cores": 4}


def test_servers_run_programs_and_reach_nobody_else(root):
    with laid_network(scaled_fabric(spec(SMALL), LabIpOptions())) as net:
        host = next(iter(net.hosts))
        shown = json.loads(net.run(host, ["ip", "-json", "route", "show", "table", "all"]))
        assert not [route for route in shown if route["dst"] == "default"]
        here = {one.name for one in net.hosts[host].interfaces}
        links = {link["ifname"] for link in json.loads(net.run(host, ["ip", "-json", "link"]))}
        assert links == {"lo", *here}
        shaped = json.loads(net.run(host, ["tc", "-json", "qdisc", "show"]))
        assert {queue["options"]["rate"] for queue in shaped if queue["kind"] == "tbf"} == {25000000}
        assert net.run(host, ["cat"], text="as given") == "as given"


@pytest.mark.parametrize("links", ["unnumbered", "numbered"])
def test_frr_takes_every_exported_configuration(tmp_path, catalog, links):
    described = spec(PODS)
    cluster, parts = build_cluster(described, catalog), resolve_parts(described, catalog)
    source = ExportSource(cluster, parts, described, None, (0,), (), (("links", links), ("bfd", "on")))
    files = list(EXPORTS["frr"].write(source))
    for file in [files[0], files[-1]]:
        place = tmp_path / "frr.conf"
        place.write_bytes(b"".join(file.pieces))
        checked = subprocess.run(
            [shutil.which("vtysh"), "-C", "-f", place],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
        place.write_bytes(b"".join(file.pieces).replace(b"maximum-paths", b"maximal-paths"))
        wrong = subprocess.run(
            [shutil.which("vtysh"), "-C", "-f", place], capture_output=True, timeout=30, check=False
        )
        assert wrong.returncode != 0, "it checks nothing otherwise"


def test_a_program_that_fails_or_hangs_is_said(root):
    from gpufabric.errors import InputError

    with isolated_machine() as machine:
        with pytest.raises(InputError, match=r"sh: ended with status 3 \(so it is\)"):
            machine.run(["sh", "-c", "echo so it is >&2; exit 3"])
        begun = time.monotonic()
        with pytest.raises(InputError, match="sleep: did not end within 0 s and was stopped"):
            machine.run(["sleep", "60"], limit_s=0.2)
        assert time.monotonic() - begun < 10


def stat_of(process):
    """Return when a process started and its parent, None for one that is gone."""
    try:
        fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[19], int(fields[1])


def tree_below(root_process):
    """Return the processes that descend from one, as number and start, and the network namespaces that they are in."""
    stats = {int(place.name): stat_of(place) for place in Path("/proc").glob("[0-9]*")}
    below, waiting = set(), [root_process]
    while waiting:
        parent = waiting.pop()
        children = [pid for pid, stat in stats.items() if stat and stat[1] == parent]
        waiting += children
        below |= {(pid, stats[pid][0]) for pid in children}
    return below, {network_of(pid) for pid, _ in below} - {None, network_of(os.getpid())}


def network_of(process):
    try:
        return str(Path(f"/proc/{process}/ns/net").readlink())
    except OSError:
        return None


def left_on_the_system():
    """Return what has a name outside: namespaces, interfaces, mounts, sockets and files of FRRouting."""
    files = [
        sorted(path.name for path in Path(folder).iterdir()) if Path(folder).is_dir() else []
        for folder in (
            "/run/netns",
            "/run/frr",
            "/etc/frr",
            "/sys/class/net",
            "/var/tmp",
            "/var/tmp/frr",
            "/var/log/frr",
        )
    ]
    return files, Path("/proc/self/mounts").read_text()


@pytest.mark.parametrize("seed", range(5))
def test_killed_at_any_moment_it_leaves_nothing(root, tmp_path, seed):
    rng = random.Random(seed)
    place = tmp_path / "c.yaml"
    place.write_text(SMALL)
    before = left_on_the_system()
    process = subprocess.Popen(
        [sys.executable, "-m", "gpufabric", "lab", "ip", str(place)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    seen, networks = set(), set()
    end = time.monotonic() + rng.uniform(0.5, 3.0)
    while time.monotonic() < end:
        below, inside = tree_below(process.pid)
        seen, networks = seen | below, networks | inside
        time.sleep(0.05)
    process.send_signal([signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGKILL][seed])
    process.wait(timeout=30)

    def alive():
        stats = {(int(p.name), (stat_of(p) or ("",))[0]) for p in Path("/proc").glob("[0-9]*")}
        return (seen & stats) | {pid for pid, _ in stats if network_of(pid) in networks}

    end = time.monotonic() + 10
    while alive() and time.monotonic() < end:
        time.sleep(0.05)
    assert alive() == set()
    assert left_on_the_system() == before
    assert list(tmp_path.iterdir()) == [place]


def test_the_command_prints_json(root, tmp_path, capsys):
    place = tmp_path / "c.yaml"
    place.write_text(SMALL)
    assert run(["lab", "ip", str(place), "--json", "--rate", "50 Mb/s"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["devices"] == {"servers": 4, "leaves": 4, "spines": 2, "cores": 0}
    assert [check["verdict"] for check in body["checks"]] == ["pass"] * 5
    assert any("0.05 Gb/s" in rule for rule in body["scale"])
