"""What programs that start a host or container a device take as its name."""

from __future__ import annotations

from gpufabric.exports.legal_names import NameRule

#: RFC 1123: one label of a host name.
HOST_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"


def host_rule(program: str) -> NameRule:
    """Return the rule of a program whose nodes are called by host names."""
    return NameRule(
        program, HOST_LABEL, 63, "letters, digits and inner dashes (RFC 1123)", same_in_both_cases=True
    )


def interface_rule(program: str) -> NameRule:
    """Return the rule of a program that makes Linux interfaces, whose names are unique within a device."""
    return NameRule(
        program, r"[A-Za-z0-9][A-Za-z0-9_.-]*", 15, "letters, digits, dots, dashes and underscores"
    )
