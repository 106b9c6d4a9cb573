"""Each finding about files of servers has its page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PREFIXES = "input|nccl|gpu|nvlink|pcie|acs|rdma|topology|nic|nics"
RULE = re.compile(rf'(?:\.add\(\s*|Finding\(\s*|^[A-Z_]+ = )"((?:{PREFIXES})-[a-z-]+)"', re.MULTILINE)


def test_every_finding_about_a_server_has_a_page():
    package = ROOT / "src/gpufabric"
    sources = [*(package / "formats").glob("*.py"), package / "rules/server_unusual.py"]
    used = {rule for path in sources for rule in RULE.findall(path.read_text(encoding="utf-8"))}
    assert {"input-lines", "nccl-warning", "acs-on", "nic-order", "gpu-links-missing"} <= used
    pages = {page.stem for page in (ROOT / "docs/rules").glob("*.md")}
    assert used - pages == set()
