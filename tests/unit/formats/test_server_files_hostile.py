"""Damaged and hostile copies of captured files: no reader raises, and nothing unprintable or secret comes out."""

import io
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufabric.formats import (
    amd_topology,
    ibstat_text,
    lspci_text,
    nccl_debug_log,
    nccl_graph_xml,
    nccl_tests_json,
    nccl_topology_xml,
    nvidia_smi_nvlink,
    nvidia_smi_topo,
    perftest_text,
    recognise,
    show_gids_text,
)

CAPTURED = Path(__file__).parents[2] / "captured"
READERS = {
    "nvidia-smi-topo": nvidia_smi_topo,
    "nccl-topology-xml": nccl_topology_xml,
    "nccl-graph-xml": nccl_graph_xml,
    "nccl-debug": nccl_debug_log,
    "nvlink-status": nvidia_smi_nvlink,
    "amd-topology": amd_topology,
    "nccl-tests-json": nccl_tests_json,
    "perftest": perftest_text,
    "lspci": lspci_text,
    "ibstat": ibstat_text,
    "show-gids": show_gids_text,
}
FILES = [(path, READERS[folder]) for folder in READERS for path in sorted((CAPTURED / folder).iterdir())]
# A fixed alphabet: building the tables of all of Unicode takes longer than the tests.
STRANGE = "aX0-9:/|#<>&\"'\\[](){}=%\t\n\r\x00\x1b\x7f\u00e9\u200b\u202e\ufeff\U0001f600"
IDS = [path.name for path, _ in FILES]


@st.composite
def damaged(draw, text: str) -> str:
    """Return *text* cut, joined, wrapped, with tabs lost, pieces moved, or strange characters and numbers in it."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["cut", "join", "wrap", "tabs", "move", "insert", "number", "indent"]))
        at = draw(st.integers(0, len(text)))
        if kind == "cut":
            text = text[:at]
        elif kind == "join":
            text = text[:at] + text[at:].replace("\n", " ", draw(st.integers(1, 5)))
        elif kind == "wrap":
            text = text[:at] + "\n" + text[at:]
        elif kind == "tabs":
            text = text.replace("\t", draw(st.sampled_from([" ", "    ", ""])))
        elif kind == "move":
            length = draw(st.integers(0, 200))
            text = text[at : at + length] + text[:at] + text[at + length :]
        elif kind == "insert":
            text = text[:at] + draw(st.text(STRANGE, max_size=8)) + text[at:]
        elif kind == "number":
            text = text.replace(
                draw(st.sampled_from("0123456789")), draw(st.sampled_from(["9" * 30, "-1", "1e999", "x"])), 3
            )
        else:
            text = "\r\n".join(f"node-1: {line}" for line in text.splitlines())
    return text


def check(record, lines: int) -> None:
    shown = str(record)
    assert shown.isprintable()
    assert 0 <= record.lines_not_understood <= lines + 1
    assert not any(secret in shown for secret in ("hunter2", "never-show-this", "do-not-show"))
    assert all(finding.where.rsplit(":", 1)[1].isdigit() for finding in record.findings)


@pytest.mark.parametrize(("path", "module"), FILES, ids=IDS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read(path, module, data):
    text = data.draw(damaged(path.read_text()))
    raw = text.encode("utf-8", "replace")
    check(module.read(io.BytesIO(raw), "f"), raw.count(b"\n") + raw.count(b"\r") + 1)
    for part in recognise.read(io.BytesIO(raw), "f").parts:
        assert part.record.lines_not_understood >= 0


@pytest.mark.parametrize("module", READERS.values(), ids=READERS)
@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(module, raw):
    check(module.read(io.BytesIO(raw), "f"), len(raw) + 1)


HOSTILE = {
    "a long line": b"a" * 1_000_000,
    "many names": b"GPU0 " * 30_000 + b"\n" + b"X " * 30_000,
    "many rows": b"".join(b"GPU%d X NV1\n" % i for i in range(4_000)),
    "brackets": b"[" * 60_000 + b"\n" + b"{" * 60_000,
    "colons": b"a:1:" * 15_000 + b" NCCL INFO\n",
    "channels": b"n:1:2 [0] NCCL INFO Channel 99999/99 : " + b"1 " * 30_000 + b"\n",
    "trees": b"n:1:2 [0] NCCL INFO Trees " + b"[0] 1->" * 9_000 + b"\n",
    "commas": b"GPU0 X " + b"1-2," * 15_000 + b"\n",
    "keys": b"n:1:2 [0] a.c:1 NCCL WARN " + b"token" * 12_000 + b"=x\n",
    "escapes": b"\x1b[31m" * 10_000 + b"\x1b]0;title\x07CA 'x'\n",
    "numbers": b'{"results": [{"size": ' + b"9" * 5_000 + b"}]}",
    "elements": b"<system><cpu>" + b'<pci busid="1"/>\n' * 4_000,
    "blanks": b"GPU 0: X" + b" " * 60_000 + b"x\n" + b"CA 'x' " + b" \t" * 30_000 + b":\n",
    "blanks in many lines": (b"GPU 1: NVIDIA" + b" " * 5_000 + b"&\n") * 20,
    "equals": b"=" * 60_000 + b"\n" + b"= x " * 15_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_bounded_time(name):
    raw = HOSTILE[name]
    start = time.process_time()
    for module in READERS.values():
        check(module.read(io.BytesIO(raw), "f"), raw.count(b"\n") + 1)
    recognise.read(io.BytesIO(raw), "f")
    # Twelve readers; quadratic work would take minutes.
    assert time.process_time() - start < 20
