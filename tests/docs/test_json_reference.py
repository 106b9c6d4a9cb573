"""The JSON reference names every command and every field of the documents that are asked for most."""

import json
import re
from pathlib import Path

import pytest

from gpufabric.cli.app import COMMANDS
from gpufabric.cli.run import run

LOG = str(Path(__file__).parents[2] / "examples" / "logs" / "b200-128r-healthy.txt")
MEASURED = str(Path(__file__).parents[1] / "captured" / "measurements" / "measured.csv")
SERVER = str(Path(__file__).parents[1] / "captured" / "nvidia-smi-topo" / "hopper-ten-nics.txt")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
GROUPED = ("shares", "nominal_shares", "by_class", "by_op", "by_size_band", "not_counted_by_reason")


@pytest.fixture(scope="module")
def sections():
    """The text of each section of the page by its heading."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def fields(value):
    """Yield the names of all fields, but not the ids that some of them are."""
    if isinstance(value, list):
        for item in value[:1]:
            yield from fields(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            # Keys of these are names of classes, operations and reasons, not of fields.
            yield from fields(list(item.values()) if key in GROUPED else item)


def test_every_field_of_a_check_of_wiring_is_described(sections, capsys, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "name: c\nservers: {model: dgx-h100, count: 8}\n"
        "fabrics: [{name: compute, topology: rail-optimized, switch: qm9790}]\n"
    )
    built, spec = str(tmp_path / "b.txt"), str(tmp_path / "c.yaml")
    assert (
        run(["faults", spec, "--inject", "swapped-pair", "--inject", "wrong-rate", "-o", built, "--json"])
        == 0
    )
    documents = {"faults": json.loads(capsys.readouterr().out)}
    assert run(["check", spec, built, "--json"]) == 1
    documents["check"] = json.loads(capsys.readouterr().out)
    assert run(["check", built, "--json"]) == 1
    documents["check"]["inferred"] = json.loads(capsys.readouterr().out)["inferred"]
    for command, document in documents.items():
        text = sections[command]
        told = {
            name for name in fields(document) if name not in {"format", "command", "version", "generator"}
        }
        assert {name for name in told if not re.search(rf"\b{name}\b", text)} <= {
            "rule",
            "severity",
            "where",
            "message",
            "expected",
            "found",
            "evidence",
            "confidence",
            "fix",
            "source",
        }


def test_every_command_has_a_section(sections):
    assert [name for name in COMMANDS if name not in sections] == []


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("design", ["superpod-b200"]),
        ("compare", ["superpod-b200", "superpod-h100", "--changes"]),
        ("compare", ["--gpus", "16"]),
        ("collective", ["superpod-b200", "all_reduce", "--size", "8G", "--gpus", "16"]),
        ("budget", ["--flops", "1e24", "--rate", "2 PFLOP/s"]),
        ("validate", ["collectives", MEASURED]),
        ("explain", [SERVER]),
        ("calibrate", [LOG, "--spec", "superpod-b200"]),
        ("check", ["superpod-b200", LOG]),
        ("parts", []),
        ("schema", ["cluster"]),
    ],
)
def test_every_field_is_described(command, words, sections, capsys):
    assert run([command, *words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    document.pop("schema", None)
    known = set(re.findall(r"\w+", sections[command])) | {"format", "command"}
    known |= set(re.findall(r"\w+", sections["design"])) if command == "compare" else set()
    assert sorted(set(fields(document)) - known) == []
