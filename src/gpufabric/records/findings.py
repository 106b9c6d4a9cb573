"""What is wrong with the user's world, and what a reader could not understand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault or remark.

    ``rule`` is the identifier that docs/rules explains; ``where`` a file:line, a device and port, or a spec field; ``confidence``
    0 to 1; ``fix`` what to do; ``source`` the document that the rule comes from.
    """

    rule: str
    severity: Severity
    where: str
    message: str
    expected: str = ""
    found: str = ""
    evidence: str = ""
    confidence: float = 1.0
    fix: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        return asdict(self)
