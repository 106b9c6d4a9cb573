"""Which plug goes into which cage.

QSFP cages of one width take the modules of older generations (QSFP112 MSA, http://www.qsfp112.com; SFF-8665), and QSFP-DD cages
take QSFP modules (QSFP-DD MSA, http://www.qsfp-dd.com); read 2026-11. OSFP cages take OSFP only, finned or flat as they are made.
"""

from __future__ import annotations

_OLDER = {
    "qsfp112": ("qsfp56", "qsfp28"),
    "qsfp56": ("qsfp28",),
    "qsfp-dd": ("qsfp56", "qsfp28"),
}


def accepts(cage: str, plug: str) -> bool:
    """Whether a module or cable with the connector *plug* fits a cage of the connector *cage*."""
    return plug == cage or plug in _OLDER.get(cage, ())
