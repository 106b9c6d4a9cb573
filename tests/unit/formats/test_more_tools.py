"""Modules by ethtool -m, peer access by nvidia-smi topo -p2p, links by ibdiagnet's list."""

import io
import math
from pathlib import Path

import numpy as np
import pytest

from gpufabric.formats import ethtool_module_text, nvidia_smi_p2p, nvidia_smi_topo, recognise
from gpufabric.formats.recognise_fabric import read_fabric, recognise_fabric
from gpufabric.records.peer_access import PeerAccess

CAPTURED = Path(__file__).parents[2] / "captured"


def test_modules_with_length_light_and_alarms():
    optic, copper = ethtool_module_text.read(CAPTURED / "ethtool-module" / "basalt-n02.txt").modules
    assert (optic.interface, optic.part_number, optic.length_m) == ("enp24s0np0", "EX-400G-SR8", 50.0)
    assert optic.temperature_c == 61.2
    assert optic.powers_w == pytest.approx((0.000912, 0.000021))
    assert [name for name, _ in optic.alarms] == [
        "Module temperature high warning",
        "Laser rx power low alarm (Channel 2)",
    ]
    assert (copper.interface, copper.length_m, copper.alarms) == ("enp41s0np0", 2.0, ())
    assert math.isnan(copper.temperature_c)


def test_alarms_are_findings_and_serial_numbers_are_not_kept():
    (part,) = recognise.read(CAPTURED / "ethtool-module" / "basalt-n02.txt").parts
    assert {(f.rule, f.severity) for f in part.record.findings} == {
        ("module-alarm", "error"),
        ("module-alarm", "warning"),
    }
    assert "never-show-this" not in str(part.record)
    assert part.record.lines_not_understood == 0


def test_peer_access_is_told_from_the_matrix_of_paths():
    (part,) = recognise.read(CAPTURED / "nvidia-smi-p2p" / "three-gpus.txt").parts
    assert isinstance(part.record, PeerAccess)
    assert part.record.cells[0] == ("X", "OK", "CNS")
    assert [f.rule for f in part.record.findings] == ["gpu-peer-access"]
    (part,) = recognise.read(CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt").parts
    assert not isinstance(part.record, PeerAccess)
    assert nvidia_smi_topo.read(CAPTURED / "nvidia-smi-topo" / "hopper-ten-nics.txt").devices


def test_a_cut_matrix_of_peers_says_so():
    record = nvidia_smi_p2p.read(io.BytesIO(b" \tGPU0\tGPU1\n GPU0\tX\tOK\n"), "f")
    assert (record.gpus, record.cells) == (("GPU0",), (("X",),))
    assert [f.rule for f in record.findings] == ["input-cut"]


def test_a_list_of_ibdiagnet_is_the_fabric_of_its_links():
    path = CAPTURED / "ibdiagnet" / "two-leaves.lst"
    assert recognise_fabric(path) == "ibdiagnet lst"
    found = read_fabric(path)
    assert (len(found.cluster.devices), len(found.cluster.links)) == (7, 12)
    rates, counts = np.unique(found.cluster.links.bytes_per_s, return_counts=True)
    assert (rates.tolist(), counts.tolist()) == ([25e9, 50e9], [1, 11])
    assert found.findings == ()
    assert found.lines_not_understood == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"{ CA Ports:01 NodeGUID:1 {x",
        b"{ CA Ports:01 NodeGUID:00 {a} PN:01 } { SW Ports:01 NodeGUID:2 {b} PN:ff } PHY=4x LOG=ACT SPD=25",
    ],
)
def test_damaged_lists_are_counted(raw):
    from gpufabric.formats.ibdiagnet_lst import read_ibdiagnet_lst

    found = read_ibdiagnet_lst(io.BytesIO(raw), "f")
    assert found.lines_not_understood == 1
    assert "found-no-links" in {finding.rule for finding in found.findings}
