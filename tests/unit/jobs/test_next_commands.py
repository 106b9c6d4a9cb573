"""Every command that a cause proposes to run next prints something that explain reads."""

import ast
import re
from pathlib import Path

import pytest

import gpufabric.diagnosis
from gpufabric.jobs import explain

CAPTURED = Path(__file__).parents[2] / "captured"
TOOL = re.compile(
    r"nvidia-smi \w+(?: -\w+)?|lspci -\w+|ethtool -\w|ibstat|mlxlink|ibqueryerrors|perfquery|show_gids|ib_\w+_bw"
    r"|(?:rocm|amd)-smi [\w-]+|lldpcli|NCCL_DEBUG=\w+|NCCL_\w+_DUMP_FILE|show [a-z]+-[a-z-]+|ibdiagnet|iblinkinfo|ibnetdiscover"
)
#: Command → a file that it printed, and the format that explain calls it.
READ = {
    "nvidia-smi topo -m": ("nvidia-smi-topo/hopper-ten-nics.txt", "nvidia-smi-topo"),
    "nvidia-smi topo -p2p": ("nvidia-smi-p2p/three-gpus.txt", "nvidia-smi-topo"),
    "nvidia-smi nvlink -s": ("nvlink-status/three-gpus-errors.txt", "nvlink-status"),
    "lspci -vvv": ("lspci/gpu-nic-acs.txt", "lspci"),
    "ethtool -S": ("link-counters/basalt-n01-ethtool.txt", "ethtool -S"),
    "ibstat": ("ibstat", "ibstat"),
    "mlxlink": ("link-counters/basalt-n01-mlxlink.txt", "mlxlink"),
    "ibqueryerrors": ("link-counters/ibqueryerrors.txt", "ibqueryerrors"),
    "ib_write_bw": ("perftest", "perftest"),
    "NCCL_DEBUG=INFO": ("nccl-debug/two-nodes-srun.txt", "nccl-debug"),
    "NCCL_GRAPH_DUMP_FILE": ("nccl-graph-xml", "nccl-graph-xml"),
}
#: Commands whose output is a picture for people; what it tells another reader has.
LOOKED_AT = {"lspci -t": "lspci -vvv", "show priority-flow-control": "ethtool -S"}


def proposed() -> set[str]:
    """Return the commands in the texts of all causes."""
    found: set[str] = set()
    for path in Path(gpufabric.diagnosis.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(TOOL.findall(node.value))
    return found


def test_every_proposed_command_has_a_reader():
    unread = proposed() - set(READ) - set(LOOKED_AT)
    assert not unread
    assert set(LOOKED_AT.values()) <= set(READ)


@pytest.mark.parametrize("command", READ)
def test_what_it_prints_is_read(command, monkeypatch):
    monkeypatch.setattr(explain, "expect_of_server", lambda server, nics: ())
    name, output = READ[command]
    path = CAPTURED / name
    path = min(path.iterdir()) if path.is_dir() else path
    assert output in {part.format for part in explain.explain([path]).parts}
