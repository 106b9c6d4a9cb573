"""What ``lab ib`` refuses, and what it finds in the tables of a run; the run itself is captured here and real in tests/real."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpufabric.errors import InputError
from gpufabric.formats import opensm_log_text, opensm_tables
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs import lab_ib as subject
from gpufabric.jobs.lab_ib import LabIbOptions, infiniband_fabric, lab_ib
from gpufabric.lab.opensm_on_ibsim import LOG, NETLIST, TABLES, OpensmRun
from gpufabric.records.forwarding_tables import NO_PORT
from gpufabric.report.lab_ib_table import share_rows, shift_rows, summary_rows

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

        def run(laid, engine, folder, give_roots, timeout_s) -> OpensmRun:
            for name in (NETLIST, TABLES, LOG):
                (folder / name).write_text(engine)
            return OpensmRun(replace(tables, out_port=out), opensm_log_text.read(CAPTURED / log), 0.25)

        monkeypatch.setattr(subject, "run_opensm", run)

    return use


def test_a_run_that_went_well(captured_run, tmp_path: Path):
    captured_run("small-ftree.log")
    found = lab_ib(spec(), LabIbOptions(), tmp_path / "out")
    assert (found.engine_used, found.switches, found.end_ports, found.links) == ("ftree", 6, 16, 32)
    assert found.findings == ()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted((NETLIST, TABLES, LOG))
    body = found.to_dict()
    assert dict(summary_rows(body))["pairs without a way"] == "0 of 64"
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
