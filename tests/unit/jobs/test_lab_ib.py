"""What ``lab ib`` refuses, and what it finds in the tables of a run; the run itself is captured here and real in tests/real."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpufabric.errors import InputError
from gpufabric.formats import opensm_log_text, opensm_tables
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.ibnetdiscover_write import write_ibnetdiscover
from gpufabric.jobs import lab_ib as subject
from gpufabric.jobs.lab_ib import LabIbOptions, infiniband_fabric, lab_ib
from gpufabric.jobs.lab_ib_cuts import Cuts
from gpufabric.jobs.lab_ib_wiring import NAMES, ROOTS
from gpufabric.lab.ibsim_session import NETLIST
from gpufabric.lab.opensm_on_ibsim import LOG, TABLES, OpensmRun
from gpufabric.records.forwarding_tables import NO_PORT
from gpufabric.report.lab_ib_table import cut_rows, cut_title, hot_rows, share_rows, shift_rows, summary_rows

CAPTURED = Path(__file__).parents[2] / "captured" / "opensm"
SPEC = """name: small
servers: {model: {gpus: 2, nics: 2, nic_rate: 100 Gb/s}, count: 8}
fabrics: [{name: compute, topology: leaf-spine, switch: {ports: 8, rate: 100 Gb/s, network: infiniband}}]
"""


def spec(text: str = SPEC):
    return parse_cluster_spec(text, "test.yaml")


@pytest.fixture
def captured_run(monkeypatch: pytest.MonkeyPatch):
    """Let the captured tables stand for a run; returns a function that sets the log and changes the table entries."""

    def use(log: str, change=lambda out: None) -> None:
        tables = opensm_tables.read(CAPTURED / "small-ftree.dump")
        out = tables.out_port.copy()
        change(out)

        log_read = opensm_log_text.read(CAPTURED / log)
        whole = replace(tables, out_port=out)

        class Manager:
            """OpenSM that routes in no time, and routes the same after a cut."""

            def __init__(self, simulator) -> None:
                self.folder = simulator.folder
                self.cuts: list[int] = []

            def wait(self) -> None:
                for name in (TABLES, LOG):
                    (self.folder / name).write_text("captured")

            def result(self) -> OpensmRun:
                return OpensmRun(whole, log_read, 0.25)

            def cut(self, links) -> None:
                self.cuts = list(links)
                (self.folder / TABLES).write_text("after the cut")

        @contextmanager
        def ibsim(subnet, folder):
            (folder / NETLIST).write_text("captured")
            yield SimpleNamespace(subnet=subnet, folder=folder)

        @contextmanager
        def opensm(simulator, engine, roots, timeout_s):
            assert roots is None
            yield Manager(simulator)

        @contextmanager
        def discovery(simulator, names):
            # As ibnetdiscover shows names: of adapters their own, of everything else those of the map.
            text = write_ibnetdiscover(simulator.subnet, ("4xSDR",) * len(simulator.subnet.link_node))
            by_name = dict(line.split(" ", 1) for line in names.read_text().splitlines())
            for guid, name in zip(simulator.subnet.guid.tolist(), simulator.subnet.names, strict=True):
                text = text.replace(f'"{name}" lid', f"{by_name[f'0x{guid:016x}']} lid")
            yield SimpleNamespace(text=lambda limit_s: text)

        monkeypatch.setattr(subject, "ibsim_running", ibsim)
        monkeypatch.setattr(subject, "opensm_running", opensm)
        monkeypatch.setattr(subject, "discovering", discovery)
        monkeypatch.setattr(subject, "price_before_after", lambda *_: ())

    return use


def test_a_run_that_went_well(captured_run, tmp_path: Path):
    captured_run("small-ftree.log")
    found = lab_ib(spec(), LabIbOptions(), tmp_path / "out")
    assert (found.engine_used, found.switches, found.end_ports, found.links) == ("ftree", 6, 16, 32)
    assert found.findings == ()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        (NETLIST, TABLES, LOG, ROOTS, NAMES)
    )
    body = found.to_dict()
    assert dict(summary_rows(body))["pairs without a way"] == "0 of 64"
    assert dict(summary_rows(body))["ibnetdiscover"] == "32 of 32 links as designed"
    assert found.wiring is not None
    assert "not observable" in found.wiring.speed
    assert (hot_rows(body), cut_rows(body)) == ([], [])
    assert "no manager of in-network reduction (SHARP)" in found.assumptions[0]
    assert share_rows(body)[0] == ("leaf → spine", "16", "3", "3.0", "3")
    assert [row[0] for row in shift_rows(body)] == ["ftree", "d-mod-k"]


def test_a_fallback_a_hole_and_a_detour_are_findings(captured_run):
    tables = opensm_tables.read(CAPTURED / "small-ftree.dump")
    lid = tables.lid_names.index("srv08:cage2")

    def change(out) -> None:
        row = tables.switch_names.index
        out[row("leaf-01"), lid] = NO_PORT
        for name, port in (("leaf-02", 5), ("spine-01", 5), ("leaf-03", 7), ("spine-02", 7)):
            out[row(name), lid] = port

    captured_run("uneven-fell-back.log", change)
    found = lab_ib(spec(), LabIbOptions())
    assert [(f.rule, f.severity) for f in found.findings] == [
        ("opensm-fell-back", "warning"),
        ("opensm-unreachable", "error"),
        ("opensm-longer-ways", "warning"),
    ]
    assert found.findings[0].message == (
        "OpenSM did not route with ftree but fell back to minhop "
        "(Different number of ports in an upward port group on switches)"
    )
    assert "cannot build lid matrices" in found.findings[0].evidence


def test_a_cut_stands_beside_what_was_before(captured_run, tmp_path: Path):
    captured_run("small-ftree.log")
    found = lab_ib(spec(), LabIbOptions(cuts=Cuts(("leaf-01 - spine-01",)), discover=False), tmp_path / "out")
    assert found.wiring is None
    assert found.reroute is not None
    # The captured tables still use the two cables, so what went over them is lost now.
    assert found.reroute.links_cut == 2
    assert found.reroute.tables.unreachable > found.tables.unreachable == 0
    assert [f.message for f in found.findings if "after the cut" in f.message]
    body = found.to_dict()
    assert cut_title(body).startswith("OpenSM routes again without 2 links: leaf-01:")
    rows = {row[0]: row[1:] for row in cut_rows(body)}
    assert rows["routing engine"] == ("ftree", "ftree")
    assert rows["end ports cut off"] == ("0", "0")
    assert (tmp_path / "out" / subject.AFTER).read_text() == "after the cut"
    assert (tmp_path / "out" / TABLES).read_text() == "captured"


def test_every_finding_has_a_page():
    pages = {page.stem for page in (Path(__file__).parents[3] / "docs" / "rules").glob("*.md")}
    assert {"opensm-fell-back", "opensm-unreachable", "opensm-longer-ways"} <= pages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (LabIbOptions(engine="lash"), 'routing engine "lash" is unknown; known: ftree, updn, minhop'),
        (LabIbOptions(plane=2), "--plane: 2 is not there; fabric compute has subnets 1 to 1"),
        (LabIbOptions(fabric="storage"), 'fabric "storage" is not in the cluster; it has compute'),
    ],
)
def test_what_is_not_there_is_refused(options: LabIbOptions, message: str):
    with pytest.raises(InputError, match=message):
        lab_ib(spec(), options)


def test_ethernet_has_no_subnet_manager():
    with pytest.raises(InputError, match=r"OpenSM routes InfiniBand \(ethernet found\)"):
        lab_ib(spec(SPEC.replace("infiniband", "ethernet")), LabIbOptions())


def test_the_first_infiniband_fabric_is_taken(wire):
    cluster, _ = wire("{gpus: 2, nics: 2, nic_rate: 100 Gb/s}", 4, "leaf-spine", "{ports: 8, rate: 100 Gb/s}")
    fabric = cluster.fabrics[0]
    two = replace(cluster, fabrics=(fabric, replace(fabric, name="second", network="infiniband")))
    assert infiniband_fabric(two, None) == 1
    assert infiniband_fabric(two, "second") == 1
    with pytest.raises(InputError, match="choose another fabric with --fabric"):
        infiniband_fabric(two, "compute")
