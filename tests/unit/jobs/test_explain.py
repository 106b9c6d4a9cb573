"""What files say with no description at hand."""

import io
import json
from pathlib import Path

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.jobs import explain as job
from gpufabric.jobs.explain import explain

CAPTURED = Path(__file__).parents[2] / "captured"
FOLDERS = (
    "nvidia-smi-topo",
    "nccl-topology-xml",
    "nccl-graph-xml",
    "nccl-debug",
    "nvlink-status",
    "amd-topology",
)
FOLDERS += (
    "nccl-tests-json",
    "nccl-tests",
    "perftest",
    "lspci",
    "ibstat",
    "show-gids",
    "slurm-topology",
    "ethtool-module",
)
FOLDERS += ("nvidia-smi-p2p", "lldp", "ibnetdiscover", "iblinkinfo", "ibdiagnet", "link-counters")
FILES = [path for folder in FOLDERS for path in sorted((CAPTURED / folder).iterdir())]


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_every_captured_file_is_explained(path, monkeypatch):
    monkeypatch.setattr(job, "expect_of_server", lambda server, nics: ())
    result = explain([path])
    assert result.parts
    facts = [text for part in result.parts for _, text in part.facts]
    assert all(text and text.isprintable() for text in facts)
    assert facts or result.findings
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_matrix_fits_servers_of_the_catalogue():
    (part,) = explain([CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt"]).parts
    assert {"dgx-h100", "hgx-h200", "dgx-b200"} <= set(part.fits)
    assert not {"dgx-a100", "hgx-mi300x", "hgx-h800"} & set(part.fits)
    assert dict(part.facts)["between GPUs"] == "NV18 (28 pairs)"
    assert part.expect == ()


def test_the_gpus_name_may_stand_in_another_file(tmp_path):
    status = tmp_path / "nvlink.txt"
    status.write_text("GPU 0: NVIDIA H200 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n")
    matrix, _ = explain([CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt", status]).parts
    assert {fit.rsplit("-", 1)[-1] for fit in matrix.fits} >= {"h200"}
    assert not any("h100" in fit or "b200" in fit for fit in matrix.fits)
    assert matrix.expect == (("from one GPU to the others of its server", 450e9),)


def test_superchips_and_rates_of_near_nics():
    (tray,) = explain([CAPTURED / "nvidia-smi-topo" / "tray-of-four-blanks.txt"]).parts
    assert "gb200-nvl72-tray" in tray.fits
    (part,) = explain([CAPTURED / "nccl-topology-xml" / "four-gpu-one-link-short.xml"]).parts
    assert dict(part.facts)["links of each GPU"] == "18 18 17 18"


def test_a_log_of_nccl_in_short():
    (part,) = explain([CAPTURED / "nccl-debug" / "two-nodes-srun.txt"]).parts
    facts = dict(part.facts)
    assert facts["communicator"] == "4 ranks on 2 hosts (0x77aa01)"
    assert facts["ring 0"] == "0 1 3 2"
    assert facts["connections"] == "NET/IB/GDRDMA (8), P2P (4)"
    assert facts["all_reduce 1M"] == "tree, ll128"
    assert part.fits is None


def test_a_file_of_no_known_format_is_refused(tmp_path):
    path = tmp_path / "x"
    path.write_text("hello\n")
    with pytest.raises(InputError, match="no output of a known format"):
        explain([path])


def test_the_command_prints_and_exits(capsys):
    assert run(["explain", str(CAPTURED / "nvlink-status" / "three-gpus-errors.txt")]) == 1
    out = capsys.readouterr().out
    assert "GPU 1 has 2 of 3 NVLinks up; down: 1 [gpu-links-missing]" in out
    assert run(["explain", str(CAPTURED / "show-gids" / "two-devices.txt")]) == 0
    assert "nothing unusual was found" in capsys.readouterr().out
    assert run(["explain", "-", "-"]) == 2
    assert "once" in capsys.readouterr().err


def test_the_document(capsys):
    assert run(["explain", str(CAPTURED / "nvidia-smi-topo" / "two-nodes-pdsh.txt"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "explain")
    assert [part["node"] for part in document["parts"]] == ["rack1-n1", "rack1-n2"]
    assert document["coverage"]["lines_not_understood"] == 0


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("three-levels.conf", {"switches": "6, 3 of them with nodes", "nodes below switches": "22"}),
        ("blocks.conf", {"blocks": "2", "block rack1": "18 nodes", "block sizes": "18, 36"}),
        ("two-topologies.yaml", {"nodes below switches": "8", "switch l1": "4 nodes"}),
    ],
)
def test_a_topology_file_of_slurm_is_one_part(name, facts):
    (part,) = explain([CAPTURED / "slurm-topology" / name]).parts
    assert part.format == "slurm-topology"
    assert facts.items() <= dict(part.facts).items()


def test_neighbours_of_one_host_are_shown():
    (part,) = explain([CAPTURED / "lldp" / "basalt-n01.json"]).parts
    facts = dict(part.facts)
    assert part.format == "lldp json"
    assert facts["basalt-n01 enp24s0"] == 'basalt-leaf1 Ethernet8 (says "basalt-n01 enp24s0")'
    assert facts["links"] == "1; rates not told"


def test_a_fabric_is_counted():
    (part,) = explain([CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt"]).parts
    facts = dict(part.facts)
    assert int(facts["switches"]) >= 2
    assert "Gb/s" in facts["links"]
    assert "gpufabric check" in facts["next"]


def test_counters_are_shown_and_judged():
    result = explain([CAPTURED / "link-counters" / "perfquery.txt"])
    assert "symbol errors" in " ".join(text for _, text in result.parts[0].facts)
    assert "link-errors" in {finding.rule for finding in result.findings}


@pytest.mark.parametrize("file", ["lldp/basalt-n01.json", "nccl-debug/two-nodes-srun.txt"])
def test_standard_input_is_read_like_a_file(file, monkeypatch):
    raw = (CAPTURED / file).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    (piped,) = explain(["-"]).parts
    (named,) = explain([CAPTURED / file]).parts
    assert piped.format == named.format
    assert [text for _, text in piped.facts] == [text for _, text in named.facts]


def test_numbers_to_expect_are_of_each_kind_that_fits():
    (part,) = explain([CAPTURED / "nvidia-smi-topo" / "tray-of-four-blanks.txt"]).parts
    assert len(part.predicted) > 1
    assert len({(one.low_bytes_per_s, one.high_bytes_per_s) for one in part.predicted}) == len(part.predicted)
