"""``gpufabric export`` and ``gpufabric convert`` on the command line."""

import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.jobs.export import Export, Exported, write_exports
from gpufabric.records.export_target import ExportedFile

CAPTURED = Path(__file__).parents[2] / "captured"


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nservers: {model: dgx-h100, count: 4}\n"
        "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790, unit_servers: 2}]\n"
    )
    return str(path)


def test_one_file_goes_to_stdout_and_remarks_to_stderr(spec, capsys):
    assert run(["export", spec, "--to", "slurm-tree"]) == 0
    printed = capsys.readouterr()
    assert "SwitchName=su01 Nodes=su01-srv[01-02]" in printed.out
    assert "slurm-tree keeps" in printed.err
    assert "slurm-tree loses" in printed.err


def test_a_folder_is_written_and_described(spec, tmp_path, capsys):
    assert run(["export", spec, "--to", "slurm-tree", "-o", str(tmp_path / "out"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (one,) = document["exports"]
    assert one["fabrics"] == ["compute"]
    (file,) = one["files"]
    assert (tmp_path / "out" / file["path"]).stat().st_size == file["bytes"] > 0


def test_a_fabric_as_found_gives_what_the_design_gives(spec, tmp_path, capsys):
    assert run(["export", spec, "--to", "slurm-tree"]) == 0
    designed = capsys.readouterr().out
    built = str(tmp_path / "built.csv")
    assert run(["faults", spec, "--inject", "random:0", "--format", "csv", "-o", built]) in (0, 2)
    capsys.readouterr()
    (tmp_path / "cables.csv").write_text(_cables(spec, capsys))
    assert run(["convert", str(tmp_path / "cables.csv"), "--to", "slurm-tree"]) == 0
    printed = capsys.readouterr()
    nodes = [line.partition("Nodes=")[2] for line in designed.splitlines() if "Nodes=" in line]
    found = [line.partition("Nodes=")[2] for line in printed.out.splitlines() if "Nodes=" in line]
    assert found == nodes
    assert "parts, racks and GPUs are in none of the files" in printed.err


def _cables(spec, capsys):
    """Return the cable list of a design, with one pair exchanged within a unit: which servers share leaves stays."""
    assert run(["faults", spec, "--inject", "swapped-pair", "--format", "csv"]) == 0
    return capsys.readouterr().out


def test_the_list_says_what_each_keeps_and_loses(capsys):
    assert run(["export", "--list"]) == 0
    printed = capsys.readouterr().out
    for name, target in EXPORTS.items():
        assert name in printed
        assert target.source in printed
    assert run(["export", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["targets"]
    assert [one["target"] for one in listed] == list(EXPORTS)
    assert all(one["kept"] and one["lost"] and one["source"] for one in listed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "export: names no description"),
        (["superpod-b200"], "--to: names no target; known: "),
        (["superpod-b200", "--to", "slurm-treee"], 'Did you mean "slurm-tree"?'),
        (["superpod-b200", "--to", "slurm-tree", "--fabric", "x"], '--fabric: "x" is not in the cluster'),
        (["superpod-b200", "--to", "slurm-tree", "--set", "x=1"], '--set: "x=1" is no setting of slurm-tree'),
        (
            ["superpod-b200", "--to", "slurm-tree", "--json"],
            "--json: the document and the files can't both go",
        ),
    ],
)
def test_what_can_not_be_written_is_said_in_one_line(words, message, capsys):
    assert run(["export", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_a_file_that_tells_of_no_wiring_is_refused(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("hello\n")
    assert run(["convert", str(tmp_path / "x.txt"), "--to", "slurm-tree"]) == 2
    assert "tells of no wiring" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a/../b", "a\x1b[2J", "a\\b", "", "."])
def test_a_file_is_never_written_outside_its_folder(tmp_path, path):
    target = EXPORTS["slurm-tree"]
    exported = Exported("c", (Export(target, ("compute",), (ExportedFile.of_text(path, "x"),)),))
    with pytest.raises(InputError, match="can't be the name of a file"):
        write_exports(exported, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_several_targets_get_a_folder_each(spec, tmp_path, capsys):
    assert run(["export", spec, "--to", "slurm-tree,slurm-block", "-o", str(tmp_path / "out")]) == 0
    found = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert found == ["slurm-block/topology.conf", "slurm-tree/topology.conf"]
    assert "wrote slurm-tree/topology.conf, slurm-block/topology.conf" in capsys.readouterr().err


def test_a_setting_belongs_to_the_target_that_has_it(spec, capsys):
    assert run(["export", spec, "--to", "mermaid", "--set", "detail=all"]) == 2
    assert '--set detail: "all" is not allowed; allowed are auto, devices, groups' in capsys.readouterr().err
    assert run(["export", spec, "--to", "ptm"]) == 2
    assert "--to ptm: writes ethernet only (fabric compute is infiniband)" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["graphml", "dot", "mermaid", "drawio", "netbox"])
@pytest.mark.parametrize(
    "file",
    [
        "ibnetdiscover/two-leaves-missing-uplink.txt",
        "iblinkinfo/two-leaves.txt",
        "lldp/slate-nxos.txt",
        "containerlab/three-racks.clab.yml",
        "cable-list/servers-and-switches.csv",
        "air/two-switches.json",
    ],
)
def test_whatever_tells_of_a_fabric_can_be_written(file, target, tmp_path):
    assert run(["convert", str(CAPTURED / file), "--to", target, "-o", str(tmp_path)]) in (0, 1)
    assert [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_cable_list_may_be_of_any_network_and_gives_its_name(tmp_path, capsys):
    file = str(CAPTURED / "cable-list" / "servers-and-switches.csv")
    assert run(["convert", file, "--to", "containerlab"]) == 0
    assert capsys.readouterr().out.startswith('name: "servers-and-switches"\n')
