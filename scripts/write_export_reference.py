"""What the targets of exports say of themselves → docs/reference/exports.md; a test fails when the page is stale."""

from collections.abc import Iterator
from pathlib import Path

from gpufabric.exports import EXPORTS
from gpufabric.records.export_target import ExportTarget
from gpufabric.report.export_table import target_rows

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "exports.md"

HEAD = """# Exports

Written by `scripts/write_export_reference.py` from what the targets say of themselves; do not edit.

`gpufabric export SPEC --to NAME` writes a design, `gpufabric convert FILE --to NAME` a fabric as files tell of it. `--list`
prints what stands below. A target with one file goes to standard output unless `-o` names a folder; several targets
(`--to dot,graphml`) get a folder each. What is kept and lost goes to stderr.
How to: [Export a design](../how-to/export-a-design.md).

## Which fabrics

All whose network the target can express, compute fabrics first; `--fabric NAME` chooses. Targets for schedulers take the first
fabric that joins servers with switches. A scheduler wants every server below one switch, so servers that share all their leaves
count as below one: a unit of a rail-optimized fabric is one switch there. A server that hangs on several leaves, each shared
with other servers, stands below the one with most of its links.

## Names of ports

A design knows ports by cage and lane ([names](names.md)). Where a program has names of its own, these are used:

| style | port of a switch | port of a server | used by |
|---|---|---|---|
| Cumulus Linux | `swp5`; split: `swp5s0`, `swp5s1` | `eth3`: the third, by NIC and lane | `air`, `frr`, `ptm`, … |
| NVOS | `sw5p1`: cage 5, port 1 | | `netbox` |
| SONiC | `Ethernet32`: its first SerDes lane, from 0 | `eth3` | `sonic` |
| InfiniBand | a number, cage by cage | `mlx5_2`: as its part says, else counted | `ibnetdiscover`, `ufm` |

Real servers name interfaces after PCI places, which a design does not know: `ethN` holds where they are renamed so. A fabric that
was read from files keeps the names in them where the program can have them.

## Names that are not legal

Every target checks the names that it writes for length, characters and uniqueness, and refuses them in one line that says what is
allowed. Names of designed devices are legal everywhere; those of files that were read may not be.

## What was shown to work

| target | shown by |
|---|---|
| `slurm-tree` | a real slurmctld (22.05) that starts with it and shows the same tree |
| `slurm-block`, `slurm-yaml` | the grammar of the manual pages, and our own reader; no Slurm that has them was at hand |
| `graphml`, `dot` | networkx and pydot, which find every device and link; `dot` our own reader too |
| `containerlab`, `air`, `ptm` | schemas in own words of the documentation, and our own reader, which finds the designed wiring |
| `netbox` | the schema of the device type library in own words; every name in a list is defined in one before it |
| `k8s-labels` | the rules of Kubernetes for names and labels, as a schema |
| `ibsim`, `ibnetdiscover` | our own readers; OpenSM runs on the first, `gpufabric check` finds no fault in the second |
| `opensm-maps`, `ufm` | the documented grammar; GUIDs and cables are compared with the design |
| `mermaid`, `drawio` | boxes, lines and places are checked; no program was at hand |

## Targets
"""


def sections() -> Iterator[str]:
    """Yield a section a target."""
    for name, target in EXPORTS.items():
        yield f"### {name}\n"
        yield table(target)


def table(target: ExportTarget) -> str:
    """Return what a target says of itself as a table."""
    rows = [f"| {fact} | {text} |" for fact, text in target_rows(target)]
    return "\n".join(["| | |", "|---|---|", *rows, ""])


def export_reference() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *sections()])


if __name__ == "__main__":
    PAGE.write_text(export_reference(), encoding="utf-8")
