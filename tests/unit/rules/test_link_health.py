"""Counters become findings: errors, flaps, and pauses that stand out among their peers."""

from gpufabric.records.link_counters import LinkCounters, PortCounters
from gpufabric.rules import link_health


def rules_of(*values):
    ports = tuple(PortCounters("leaf1", str(at), at + 1, one) for at, one in enumerate(values))
    found = link_health.check([LinkCounters("c.txt", "perfquery", ports)])
    return [(finding.rule, finding.severity, finding.where) for finding in found]


def test_quiet_ports_have_no_finding():
    assert rules_of({"symbol_errors": 0, "link_downs": 0, "received_bytes": 7e12}, {}) == []


def test_errors_and_flaps_are_warnings():
    found = rules_of({"symbol_errors": 4, "link_downs": 2})
    assert found == [("link-errors", "warning", "c.txt:1"), ("link-flaps", "warning", "c.txt:1")]


def test_a_ratio_above_the_specification_is_an_error():
    assert rules_of({"effective_ber": 1e-11}) == [("link-errors", "error", "c.txt:1")]
    assert rules_of({"effective_ber": 1e-15}) == []


def test_pauses_count_only_where_they_stand_out():
    usual = [{"receive_pauses": 1000.0}] * 5
    assert rules_of(*usual) == []
    assert rules_of(*usual, {"receive_pauses": 50_000.0}) == [("link-pauses", "warning", "c.txt:6")]
    assert rules_of({"receive_pauses": 1.0}, {"receive_pauses": 50_000.0}) == []
