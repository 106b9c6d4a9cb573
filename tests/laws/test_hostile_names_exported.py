"""Names of devices and ports from strangers: a target refuses them in one line, or its file is read back whole."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from defusedxml import ElementTree
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gpufabric.errors import InputError
from gpufabric.exports import EXPORTS
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.formats.slurm_topology import read_slurm_topology
from gpufabric.recognition.recognise_roles import with_roles
from gpufabric.records.export_target import ExportSource
from gpufabric.records.part_set import PartSet

CABLES = "from_device,from_port,to_device,to_port\nsrv1,p1,leaf1,q1\nsrv2,p1,leaf1,q2\nleaf1,q3,spine1,q1\n"
FOUND = read_fabric(io.BytesIO(CABLES.encode()), "cables.csv")
CLUSTER = with_roles(FOUND)
TEXTS = st.text(
    alphabet=st.sampled_from(list("aZ0-._:/\\\"'<>&{}[]#|;,= \t\n\r\x00\x1b\u2028é😀`$")), max_size=12
)


def read_all(name: str, text: str) -> None:
    """Read a whole file as the target's readers do; whatever does not fit raises or fails."""
    if name in ("graphml", "drawio"):
        ElementTree.fromstring(text)
    elif name == "air":
        assert len(json.loads(text)["content"]["links"]) == 3
    elif name in ("containerlab", "k8s-labels", "slurm-yaml"):
        assert list(YAML(typ="safe").load_all(text))
    elif name == "netbox":
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(row) for row in rows} == {11}
        assert len(rows) == 4
    elif name in ("dot", "ptm"):
        assert read_fabric(io.BytesIO(text.encode()), name).lines_not_understood == 0
    elif name == "ufm":
        assert all(re.fullmatch(r"\S+ \S+|\tP\d+ -> \S+ \S+ \S+|", line) for line in text.splitlines())
    elif name in ("ibnetdiscover", "ibsim"):
        assert len(text.splitlines()) == len(text.split("\n")) - 1
        assert text.isascii()
    elif name == "mermaid":
        assert len(text.splitlines()) == 1 + 4 + 3
    else:
        found = read_slurm_topology(io.BytesIO(text.encode()), name)
        assert found.lines_not_understood == 0


TARGETS = (
    "air", "containerlab", "dot", "drawio", "graphml", "ibnetdiscover", "ibsim", "k8s-labels", "mermaid", "netbox", "ptm",
    "slurm-block", "slurm-tree", "slurm-yaml", "ufm",
)  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=25)
@given(device=TEXTS, port=TEXTS)
@example(device='a"b', port="p")
@example(device="a\nb", port="p")
@example(device="a]b", port="#")
@example(device="srv2", port="q")
@example(device="ok", port='"; x')
@example(device="ok", port="\x00")
def test_a_file_holds_any_name_or_is_refused(target, device, port):
    devices = replace(CLUSTER.devices, names=(device, *CLUSTER.devices.names[1:]))
    ports = replace(CLUSTER.ports, names=(port, *CLUSTER.ports.names[1:]))
    cluster = replace(CLUSTER, devices=devices, ports=ports)
    source = ExportSource(cluster, PartSet({}, {}, {}), None, None, (0,), found=FOUND)
    refusal, text = "", ""
    try:
        (file,) = EXPORTS[target].write(source)
        text = b"".join(file.pieces).decode("utf-8")
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert refusal.isprintable()
        assert "rename the" in refusal or "rename one of the two" in refusal
    else:
        read_all(target, text)
