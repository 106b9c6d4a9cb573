"""Real OpenSM on real ibsim: what it makes of designed fabrics."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.formats import ibsim_netlist
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.lab_ib import LabIbOptions, LabIbResult, lab_ib
from gpufabric.jobs.lab_ib_cuts import Cuts
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.topologies import build_cluster

pytestmark = [pytest.mark.real, pytest.mark.slow]
ENGINES = ["ftree", "updn", "minhop"]
UNEVEN = """name: uneven
servers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 12}
fabrics:
  - {name: compute, topology: leaf-spine, spine: {count: 3}, switch: {ports: 16, rate: 100 Gb/s, network: infiniband}}
"""


@pytest.fixture(autouse=True)
def programs(require_program: Callable[[str], str]) -> None:
    require_program("opensm")
    require_program("ibsim")
    require_program("ibnetdiscover")


def superpod(units: int) -> str:
    return (
        f"name: pod\nunits: {units}\nservers: {{model: dgx-h100}}\n"
        "fabrics: {name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 32,\n"
        "  managers: {count: 2, links: 2, takes_server: true}}\n"
    )


def route(text: str, **options: object) -> LabIbResult:
    return lab_ib(parse_cluster_spec(text, "test.yaml"), LabIbOptions(**options))


@pytest.mark.parametrize("units", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_tables_of_a_superpod_reach_everyone_on_shortest_ways(units: int, engine: str):
    found = route(superpod(units), engine=engine)
    assert found.engine_used == engine
    assert found.findings == ()
    assert found.tables.unreachable == found.tables.longer == 0
    # A server gives its place to the managers, which have four ports instead of its eight.
    assert (found.switches, found.end_ports) == (12 * units, 256 * units - 8 + 4)
    assert found.tables.pairs == 8 * units * found.end_ports
    spec = parse_cluster_spec(superpod(units), "test.yaml")
    cluster = build_cluster(spec, catalog_for(spec))
    # The design's way between rails goes up to the highest tier and down again.
    assert found.tables.most_hops == 2 * (cluster.fabrics[0].tiers - 1)


def test_ftree_gives_shift_permutations_a_full_tree_without_clashes():
    """Zahavi 2010 proves it of d-mod-k; OpenSM's fat-tree engine does as well on the same wiring."""
    full = "name: full\nservers: {model: dgx-h100, count: 64}\nfabrics: {topology: rail-optimized, switch: qm9790}\n"
    found = route(full, engine="ftree")
    assert found.tables.shifts.worst_fullest == 1
    assert found.tables.static_shifts is not None
    assert found.tables.static_shifts.worst_fullest == 1
    assert [(s.least, s.most) for s in found.tables.shares if s.way == "spine → leaf"] == [(1, 1)]


@pytest.mark.parametrize(
    ("topology", "servers", "ports"), [("fat-tree", 32, 8), ("fat-tree", 48, 8), ("fat-tree", 72, 12)]
)
def test_our_static_tables_are_as_clean_as_those_of_ftree_on_three_tiers(
    topology: str, servers: int, ports: int
):
    found = route(
        f"name: x\nservers: {{model: {{gpus: 2, nics: 2, nic_rate: 100 Gb/s}}, count: {servers}}}\n"
        f"fabrics: {{name: c, topology: {topology}, tiers: 3,\n"
        f"  switch: {{ports: {ports}, rate: 100 Gb/s, network: infiniband}}}}\n"
    )
    assert found.tables.most_hops == 4
    assert found.tables.static_shifts == found.tables.shifts
    assert found.tables.shifts.worst_fullest == 1


def test_ftree_falls_back_where_groups_are_unequal_and_says_why():
    found = route(UNEVEN, engine="ftree")
    assert found.engine_used == "minhop"
    assert [f.rule for f in found.findings] == ["opensm-fell-back"]
    assert "Different number of ports in an upward port group" in found.findings[0].message
    assert found.tables.unreachable == 0


def test_with_a_list_of_roots_ftree_takes_it():
    found = route(UNEVEN, engine="ftree", give_roots=True)
    assert (found.engine_used, found.findings) == ("ftree", ())


@pytest.mark.parametrize("plane", [1, 2])
def test_planes_are_routed_one_at_a_time(plane: int):
    text = (
        "name: planes\nservers: {model: {gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}, count: 8}\n"
        "fabrics: {name: c, topology: multi-plane, switch: {ports: 8, rate: 100 Gb/s, network: infiniband}}\n"
    )
    found = route(text, plane=plane)
    assert (found.planes, found.end_ports, found.tables.unreachable) == (2, 16, 0)


def test_more_nodes_than_ibsim_takes_unasked():
    """Its defaults end at 2,048 nodes: 296 servers of eight ports and 120 switches are more."""
    text = (
        "name: wide\nservers: {model: dgx-h100, count: 296}\nfabrics: {topology: fat-tree, switch: qm9790}\n"
    )
    found = route(text, engine="updn")
    assert found.end_ports + found.switches > 2048
    assert found.tables.unreachable == 0


def test_the_command_writes_what_it_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    spec, out = tmp_path / "c.yaml", tmp_path / "out"
    spec.write_text(UNEVEN)
    assert run(["lab", "ib", str(spec), "--engine", "updn", "--json", "-o", str(out)]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["engine_used"], body["tables"]["unreachable"], body["opensm_version"][0]) == ("updn", 0, "3")
    assert len(ibsim_netlist.read(out / "ibsim.net")) == body["switches"] + body["end_ports"]
    dump = f"opensm:{out / 'opensm-lfts.dump'}"
    assert run(["collective", str(spec), "all_reduce", "--size", "1G", "--routing", dump]) == 0
    assert run(["collective", str(spec), "all_reduce", "--size", "1G", "--routing", "opensm:ftree"]) == 0
    assert "opensm:ftree (fell back to minhop) routing" in capsys.readouterr().err


def test_too_little_time_is_said_and_nothing_is_left():
    with pytest.raises(InputError, match="opensm: did not end within 0 s and was stopped"):
        route(superpod(2), timeout_s=0.001)


def descendants(session: int) -> list[str]:
    """Return the command names of processes that were started by the given process."""
    names = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == session and state != "Z":
            names.append(name)
    return names


def working_folders() -> list[str]:
    """Return where the processes of this machine run; some end while we look."""
    folders = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            folders.append(str(entry.readlink()))
    return folders


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to see processes")
def test_ctrl_c_leaves_no_process_and_no_folder(tmp_path: Path):
    spec = tmp_path / "c.yaml"
    spec.write_text(
        "name: big\nservers: {model: dgx-h100, count: 512}\nfabrics: {topology: fat-tree, switch: qm9790}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "gpufabric", "lab", "ib", str(spec)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        seen: list[str] = []
        for _ in range(600):
            seen = descendants(process.pid)
            if "opensm" in seen or process.poll() is not None:
                break
            time.sleep(0.05)
        # A shell watches over them, should we be killed.
        assert set(seen) == {"ibsim", "opensm", "sh"}
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors.decode().endswith("gpufabric: interrupted\n")
    assert list(tmp_path.iterdir()) == [spec]
    assert not [folder for folder in working_folders() if folder.startswith(str(tmp_path))]


def test_what_is_discovered_is_what_was_designed():
    found = route(superpod(1))
    assert found.wiring is not None
    assert found.wiring.links == found.wiring.links_as_designed == found.links
    assert found.wiring.speed.startswith("not observable")


@pytest.mark.parametrize("topology", ["rail-only", "multi-plane"])
def test_every_subnet_is_compared_with_its_own_part_of_the_design(topology: str):
    server = "{gpus: 2, nics: 2, nic_ports: 2, nic_rate: 100 Gb/s}"
    text = (
        f"name: parts\nservers: {{model: {server}, count: 4}}\n"
        f"fabrics: {{name: c, topology: {topology}, switch: {{ports: 16, rate: 100 Gb/s, network: infiniband}}}}\n"
    )
    for plane in range(1, route(text, engine="minhop", discover=False).planes + 1):
        found = route(text, engine="minhop", plane=plane)
        assert found.findings == ()
        assert found.wiring is not None
        assert found.wiring.links == found.wiring.links_as_designed == found.links


def test_a_lost_spine_costs_bandwidth_but_no_pair():
    small = (
        "name: small\nservers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 8}\n"
        "fabrics: {name: c, topology: leaf-spine, switch: {ports: 8, rate: 100 Gb/s, network: infiniband}}\n"
    )
    found = route(small, cuts=Cuts(("spine-01",)))
    after = found.reroute
    assert after is not None
    assert (after.links_cut, after.switches, after.end_ports_cut_off) == (8, found.switches - 1, 0)
    assert (after.engine_used, after.tables.unreachable, after.tables.longer) == ("ftree", 0, 0)
    # Four ports of a leaf share the two links that are left.
    assert found.tables.shifts.worst_fullest == 1
    assert after.tables.shifts.worst_fullest == 2
    exchange = next(priced for priced in after.collectives if priced.op == "all_to_all")
    assert exchange.note == ""
    assert exchange.before_busbw_bytes_per_s is not None
    assert exchange.after_busbw_bytes_per_s is not None
    assert exchange.after_busbw_bytes_per_s < 0.8 * exchange.before_busbw_bytes_per_s


def test_tables_after_a_cut_use_no_cable_that_was_cut():
    for seed in range(4):
        found = route(superpod(1), cuts=Cuts((), 12, seed), discover=False, give_roots=True)
        assert found.reroute is not None
        # A table entry into a cut cable would be a pair without a way: the wiring that is followed has it no more.
        assert (found.reroute.engine_used, found.reroute.tables.unreachable) == ("ftree", 0)


def test_a_leaf_that_is_cut_off_takes_its_end_ports_along():
    found = route(superpod(1), cuts=Cuts(("leaf-su01-r1",)), discover=False)
    assert found.reroute is not None
    assert found.reroute.end_ports_cut_off == found.end_ports - found.reroute.end_ports > 0
    assert found.reroute.tables.unreachable == 0


def test_the_port_of_opensm_keeps_its_cable():
    with pytest.raises(InputError, match="is where OpenSM sits, so its cable stays"):
        route(superpod(1), cuts=Cuts(("mgr-01:cage1",)), discover=False)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to see processes")
@pytest.mark.parametrize("after_s", [0.3, 0.6, 1.0, 1.6])
def test_killed_at_any_moment_the_next_run_leaves_nothing(tmp_path: Path, after_s: float):
    spec, place = tmp_path / "c.yaml", tmp_path / "scratch"
    spec.write_text(superpod(2))
    place.mkdir()
    command = [sys.executable, "-m", "gpufabric", "lab", "ib", str(spec), "--cut-random", "4"]
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(after_s)
        process.kill()
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    assert list(place.iterdir()) == []
    assert not [folder for folder in working_folders() if folder.startswith(str(place))]


@pytest.mark.parametrize(
    ("fault", "used"),
    [
        ("switch-down:spine-01", "opensm:ftree routing"),
        ("link-down:leaf-01:5", "opensm:ftree (fell back to minhop) routing"),
        ("nic-down:srv01:cage1", "opensm:ftree routing"),
    ],
)
def test_a_collective_with_faults_runs_on_the_tables_of_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, used: str
):
    spec = tmp_path / "c.yaml"
    spec.write_text(
        "name: small\nservers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 8}\n"
        "fabrics: {name: c, topology: leaf-spine, switch: {ports: 8, rate: 100 Gb/s, network: infiniband}}\n"
    )
    words = ["collective", str(spec), "all_to_all", "--size", "1G", "--routing", "opensm:ftree", "--json"]
    assert run([*words, "--fault", fault]) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]
    assert found["method"] == f"fluid, {used}"
    assert found["busbw_bytes_per_s"] < 0.9 * found["healthy_busbw_bytes_per_s"]


def test_the_how_to_page_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "route-with-opensm.md").read_text(
        encoding="utf-8"
    )
    for name, text in re.findall(r"^```yaml (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"^```console\n\$ gpufabric (.*?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(shown) == 7
    for command, output in shown:
        assert run(shlex.split(command)) == 0
        printed = [" ".join(line.split()) for stream in capsys.readouterr() for line in stream.splitlines()]
        for line in output.splitlines():
            start = " ".join(line.partition("…")[0].split())
            assert [text for text in printed if text == start or ("…" in line and text.startswith(start))], (
                line
            )
