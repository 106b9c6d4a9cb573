"""Every captured file is recognised by its content, whatever it is called."""

import gzip
import io
import types
from pathlib import Path

import pytest

from gpufabric.formats.recognise_fabric import read_fabric, recognise_fabric

CAPTURED = Path(__file__).parents[2] / "captured"
FORMATS = {
    "ibnetdiscover/two-leaves-missing-uplink.txt": "ibnetdiscover",
    "ibnetdiscover/first-adapter-only.txt": "ibnetdiscover",
    "ibnetdiscover/two-leaves-port-list.txt": "ibnetdiscover -p",
    "iblinkinfo/two-leaves.txt": "iblinkinfo",
    "ibdiagnet/two-leaves.db_csv": "ibdiagnet db_csv",
    "lldp/basalt-n01.json": "lldp json",
    "lldp/basalt-n02.json": "lldp json",
    "lldp/basalt-n03.json0.json": "lldp json",
    "lldp/basalt-leaf1.txt": "lldp table",
    "lldp/slate-nxos.txt": "lldp table",
    "lldp/slate-eos.txt": "lldp table",
    "lldp/slate-nxos-detail.txt": "lldp details",
    "lldp/slate-eos-detail.txt": "lldp details",
    "lldp/basalt-leaf2-lldpctl.txt": "lldp details",
    "cable-list/two-row-header.csv": "cable list",
    "cable-list/netbox.csv": "cable list",
    "cable-list/servers-and-switches.csv": "cable list",
    "containerlab/three-racks.clab.yml": "containerlab or air",
    "air/two-switches.json": "containerlab or air",
    "air/two-switches.dot": "dot",
}


@pytest.mark.parametrize(("file", "name"), FORMATS.items())
def test_captured_files(file, name):
    assert recognise_fabric(CAPTURED / file) == name


#: What is printed by commands, and so may stand behind the tags of a launcher.
PRINTED = {
    file: name
    for file, name in FORMATS.items()
    if file.split("/")[0] in {"ibnetdiscover", "iblinkinfo", "lldp"}
}


@pytest.mark.parametrize(("file", "name"), PRINTED.items())
def test_gzip_behind_tags(file, name):
    lines = (CAPTURED / file).read_bytes().splitlines(keepends=True)
    tagged = b"".join(b"[1,0]<stdout>:" + line for line in lines)
    assert recognise_fabric(io.BytesIO(gzip.compress(tagged))) == name


@pytest.mark.parametrize(
    "file",
    ["slurm-topology/three-levels.conf", "slurm-topology/blocks.conf", "slurm-topology/two-topologies.yaml"]
    + [f"link-counters/{name}" for name in ("perfquery.txt", "ibqueryerrors.txt", "basalt-n01-ethtool.txt")]
    + ["link-counters/basalt-leaf1-counters.txt", "link-counters/basalt-n01-mlxlink.txt"]
    + ["nccl-tests/tagged-elided.txt", "opensm/small-ftree.log", "opensm/small-ftree.dump"],
)
def test_other_captures_are_no_fabric(file):
    assert recognise_fabric(CAPTURED / file) == ""
    assert read_fabric(CAPTURED / file) is None


def test_standard_input_is_read(monkeypatch):
    data = (CAPTURED / "ibnetdiscover" / "two-leaves-missing-uplink.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    found = read_fabric("-")
    assert found.files == ("standard input",)
    assert len(found.cluster.links) == 15
