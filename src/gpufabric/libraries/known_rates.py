"""A priced algorithm → the same as a library sees it, which knows its own servers and nothing of switches and order."""

from __future__ import annotations

from dataclasses import replace

from gpufabric.records.priced_algorithm import PricedAlgorithm


def known_rates(priced: PricedAlgorithm) -> PricedAlgorithm:
    """Return *priced* with the rates that a library reckons with: those inside nodes and those of the NICs.

    Which links of the fabric its messages share, how many switches they cross and where the ranks stand are not known to it,
    so hashes, oversubscription and shuffled ranks change nothing here.

    Parameters
    ----------
    priced : PricedAlgorithm
        As laid on the wiring; without the rate of the ports it stands for what the library knows.
    """
    ports = priced.ports_bytes_per_s
    if ports is None:
        return replace(priced, path_latency_s=0.0)
    line = min(priced.inside_bytes_per_s, ports)
    return replace(priced, fabric_bytes_per_s=ports, line_bytes_per_s=line, path_latency_s=0.0)
