"""No fabric file makes a reader raise, hang or swallow lines: mutated captures, foreign text, long lines."""

import io
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.formats.fabric_readers import FABRIC_READERS

CAPTURED = Path(__file__).parents[2] / "captured"
FILES = {
    "ibnetdiscover": ["ibnetdiscover/two-leaves-missing-uplink.txt"],
    "ibnetdiscover -p": ["ibnetdiscover/two-leaves-port-list.txt"],
    "iblinkinfo": ["iblinkinfo/two-leaves.txt"],
    "ibdiagnet db_csv": ["ibdiagnet/two-leaves.db_csv"],
    "ibdiagnet lst": ["ibdiagnet/two-leaves.lst"],
    "lldp json": ["lldp/basalt-n02.json", "lldp/basalt-n03.json0.json"],
    "lldp table": ["lldp/basalt-leaf1.txt", "lldp/slate-nxos.txt", "lldp/slate-eos.txt"],
    "lldp details": [
        "lldp/slate-nxos-detail.txt",
        "lldp/slate-eos-detail.txt",
        "lldp/basalt-leaf2-lldpctl.txt",
    ],
}
FILES |= {
    "cable list": ["cable-list/two-row-header.csv", "cable-list/netbox.csv", "cable-list/joined-ends.tsv"],
    "containerlab or air": ["containerlab/three-racks.clab.yml", "air/two-switches.json"],
    "dot": ["air/two-switches.dot"],
}
CASES = [(name, file) for name, files in FILES.items() for file in files]


def read(name, data):
    found = FABRIC_READERS[name](io.BytesIO(data), "x")
    cluster = found.cluster
    assert len(found.port_number) == len(cluster.ports)
    assert len(found.device_guid) == len(cluster.devices)
    ports = cluster.links.port_a.tolist() + cluster.links.port_b.tolist()
    assert len(set(ports)) == len(ports)
    assert all(0 <= port < len(cluster.ports) for port in ports)
    texts = [*cluster.devices.names, *cluster.ports.names, *found.device_model, *found.port_note]
    assert all(text.isprintable() for text in texts + [f.message for f in found.findings])
    return found


def test_every_format_has_captures():
    assert set(FILES) == set(FABRIC_READERS)


@pytest.mark.parametrize(("name", "file"), CASES)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files_are_read(name, file, data):
    text = bytearray((CAPTURED / file).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, max(len(text) - 1, 0)))
        to = data.draw(st.integers(at, min(at + 60, len(text))))
        how = data.draw(st.integers(0, 3))
        if how == 0:
            del text[at:to]
        elif how == 1:
            text[at:to] = data.draw(st.binary(max_size=12))
        elif how == 2:
            text[at:at] = text[at:to] * data.draw(st.integers(1, 40))
        else:
            del text[at:]
    read(name, bytes(text))


@pytest.mark.parametrize("name", list(FABRIC_READERS))
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00" * 100,
        b"\xff\xfe" * 50,
        b"\x1b]0;title\x07\x1b[2J\n" * 5,
        b"\x1f\x8b\x08broken",
        b"hello world\n" * 50,
        b"9" * 5000 + b"\n",
        b"[" * 3000,
        b'{"a":' * 3000,
    ],
)
def test_foreign_files_are_no_fabric(name, text):
    found = read(name, text)
    assert len(found.cluster.links) == 0
    assert any(finding.severity == "error" for finding in found.findings)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), CASES)
@pytest.mark.parametrize("fill", [b" ", b"x", b'"', b"[", b"4xNDR", b":/", b"\t-", b"(", b"1,"])
def test_long_lines_take_no_long_time(name, file, fill):
    text = (CAPTURED / file).read_bytes()
    lines = text.split(b"\n")
    lines[len(lines) // 2] = lines[len(lines) // 2][:30] + fill * 60_000
    start = time.perf_counter()
    read(name, b"\n".join(lines))
    assert time.perf_counter() - start < 2.0
