"""Published designs in tests/published → docs/reference/published-designs.md; a test fails when the page is stale."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "tests" / "published"
PAGE = ROOT / "docs" / "reference" / "published-designs.md"

HEAD = """# Published designs

Written by `scripts/write_published_designs.py` from the tables in `tests/published/`; do not edit.

Each design is wired from a description, by the rules of [topologies](topologies.md) and no rule of its own, and then
counted. The tests compare every printed figure listed here with the count.

- **exact**: tiers, switches and links are the printed ones.
- **convention**: they are, after the one conversion that the row names.
- **built**: all that was printed comes out, but it is not a whole table.
- **differs**: part of it comes out, and the row says what does not.
- **not asked**: too little was printed to wire it.
"""

WORDS = {
    "gpus": "GPUs",
    "server_leaf": "server–leaf",
    "leaf_spine": "leaf–spine",
    "spine_core": "spine–core",
    "leaf_leaf": "leaf–leaf",
    "other": "other links",
    "oversubscription": "down : up",
}
PLURALS = {"leaf": "leaves", "spine": "spines", "core": "cores"}


def published_designs() -> str:
    """Return the text of the page."""
    designs = _read("reference_designs.toml") + _read("further_designs.toml")
    blocks = [HEAD]
    for title, verdicts in (
        ("Whole tables", ("exact", "convention")),
        ("Parts of tables", ("built", "differs")),
        ("Not wired", ("not asked",)),
    ):
        rows = [row for row in designs if _verdict(row) in verdicts]
        lines = ["| design | verdict | printed and counted | why | source |", "|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
        blocks.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)


def _read(name: str) -> list[dict[str, Any]]:
    designs: list[dict[str, Any]] = tomllib.loads((TABLES / name).read_text(encoding="utf-8"))["design"]
    return designs


def _verdict(row: dict[str, Any]) -> str:
    return str(row.get("reproduce") or row["reach"])


def _line(row: dict[str, Any]) -> str:
    printed = ", ".join(_figure(key, value) for key, value in row.get("printed", {}).items())
    source = f"[{row['source']}]({row['url']})"
    return f"| `{row['id']}` | {_verdict(row)} | {printed} | {row.get('why', '')} | {source} |"


def _figure(key: str, value: float) -> str:
    if key == "oversubscription":
        return f"{value:g}:1 {WORDS[key]}"
    word = WORDS.get(key) or PLURALS.get(key, key)
    return f"{value:,} {word.removesuffix('s') if value == 1 else word}"


if __name__ == "__main__":
    PAGE.write_text(published_designs(), encoding="utf-8")
