"""What channels and NICs a library uses → the rates that an algorithm has left."""

from __future__ import annotations

from dataclasses import replace

from gpufabric.collectives.bus_factors import bus_factor
from gpufabric.libraries.needs import generation_of
from gpufabric.records.job_situation import JobSituation
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.priced_algorithm import PricedAlgorithm


def limit_rates(
    priced: PricedAlgorithm, model: LibraryModel, settings: LibrarySettings, situation: JobSituation
) -> PricedAlgorithm:
    """Return *priced* with no more channels and NICs than the library has.

    A channel leaves each node by one NIC, so fewer channels than ways (one for each rail and plane) leave NICs idle; between
    racks of 72 GPUs that is what bounds the bandwidth. Inside a node the library plans a channel for no more than
    ``channel_bytes_per_s`` of its generation.

    Parameters
    ----------
    priced : PricedAlgorithm
        One way a rail and plane, as schedules have it.
    model, settings, situation
        What limits it. Sends and receives have channels of their own for every peer and are not limited.
    """
    spelled = {rule.name for rule in model.algorithms if rule.spelling}
    if priced.algorithm not in spelled:
        return _with_nics(priced, settings, situation)
    limits = [limit.channels for limit in model.channel_limits]
    most = min([*limits, settings.most_channels or 2**31])
    channels = min(max(priced.channels, settings.least_channels or 1), most)
    if priced.channels > most:
        priced = replace(priced, fabric_bytes_per_s=priced.fabric_bytes_per_s * most / priced.channels)
    generation = generation_of(model, situation.gpu)
    if settings.most_channels and generation and generation.channel_bytes_per_s:
        planned = most * generation.channel_bytes_per_s / bus_factor(priced.op, priced.ranks)
        priced = replace(priced, inside_bytes_per_s=min(priced.inside_bytes_per_s, planned))
    return _with_nics(_bounded(replace(priced, channels=channels)), settings, situation)


def _with_nics(
    priced: PricedAlgorithm, settings: LibrarySettings, situation: JobSituation
) -> PricedAlgorithm:
    if settings.nics is None or not 0 < settings.nics < situation.node_nics:
        return priced
    share = settings.nics / situation.node_nics
    return _bounded(replace(priced, fabric_bytes_per_s=priced.fabric_bytes_per_s * share))


def _bounded(priced: PricedAlgorithm) -> PricedAlgorithm:
    rates = (priced.line_bytes_per_s, priced.inside_bytes_per_s, priced.fabric_bytes_per_s)
    return replace(priced, line_bytes_per_s=min(rates))
