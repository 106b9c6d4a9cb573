"""Evidence → possible causes, one registry entry a cause.

Every cause has a page in docs/causes. Each looks at all that is known of a job and says how sure it is: what a file shows comes
before what a rate only fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from gpufabric.diagnosis import (
    adapters,
    fabric_paths,
    library_choices,
    links_at_fault,
    readings,
    server_insides,
    slow_place,
    transports,
)
from gpufabric.records.job_evidence import JobEvidence
from gpufabric.records.verdicts import Cause

CAUSES: Mapping[str, Callable[[JobEvidence], Iterator[Cause]]] = {
    links_at_fault.LINK_ERRORS: links_at_fault.link_errors,
    links_at_fault.LINK_PAUSED: links_at_fault.link_paused,
    links_at_fault.PORT_DOWN: links_at_fault.port_down,
    slow_place.SLOW_PLACE: slow_place.slow_place,
    transports.SOCKETS: transports.socket_transport,
    transports.GPUDIRECT_OFF: transports.gpudirect_off,
    transports.ACS_ON: transports.acs_on,
    transports.P2P_OFF: transports.p2p_off,
    adapters.NICS_UNUSED: adapters.nics_unused,
    adapters.NIC_SHARED: adapters.nic_shared,
    adapters.NIC_FAR: adapters.nic_far,
    adapters.FEW_GPUS: adapters.few_gpus,
    adapters.RAIL_CHANGES: adapters.ring_changes_rail,
    server_insides.PCIE_REDUCED: server_insides.pcie_reduced,
    server_insides.TOPOLOGY_HIDDEN: server_insides.topology_hidden,
    server_insides.NVLINKS_MISSING: server_insides.nvlinks_missing,
    fabric_paths.ECMP: fabric_paths.ecmp_collisions,
    fabric_paths.ADAPTIVE_OFF: fabric_paths.adaptive_routing_off,
    fabric_paths.OVERSUBSCRIBED: fabric_paths.oversubscription,
    fabric_paths.SLOW_LINK: fabric_paths.slow_link,
    library_choices.FORCED: library_choices.algorithm_forced,
    library_choices.FEW_CHANNELS: library_choices.few_channels,
    library_choices.SETTINGS_DEFAULT: library_choices.settings_at_default,
    library_choices.NVLS_MISSING: library_choices.nvls_missing,
    library_choices.LIBRARY_OLD: library_choices.library_old,
    readings.MESSAGE_SMALL: readings.message_small,
    readings.AVERAGE: readings.average_small,
    readings.WITHOUT_MPI: readings.not_built_with_mpi,
    readings.ERROR_COLUMN: readings.error_column,
    readings.TUNING_MODEL: readings.tuning_table,
    readings.AT_CEILING: readings.at_the_ceiling,
    readings.TWO_SERVER_TREE: readings.two_server_tree,
    readings.IN_SWITCH: readings.in_switch_reduction,
    readings.OTHER_CLUSTER: readings.description_differs,
}
MOST_CAUSES = 6
#: What depends on where servers stand, and what is the same wherever they do.
_OF_THE_FABRIC = (fabric_paths.OVERSUBSCRIBED, fabric_paths.ECMP, fabric_paths.ADAPTIVE_OFF)
_OF_EVERY_SERVER = (
    transports.SOCKETS,
    transports.GPUDIRECT_OFF,
    transports.ACS_ON,
    adapters.NICS_UNUSED,
    server_insides.PCIE_REDUCED,
)
#: From here on a file shows it.
_SHOWN = 0.5


def diagnose(evidence: JobEvidence) -> tuple[Cause, ...]:
    """Return what may be the cause of a measured rate, the likeliest first.

    Parameters
    ----------
    evidence
        All that files, description and prediction say of one table of a log.

    Returns
    -------
    tuple of Cause
        At most six. Confidences are ranks between causes, not frequencies: 0.8 and more says that a file shows it, 0.4 and less
        that only the rate fits.
    """
    found = [cause for look in CAUSES.values() for cause in look(evidence)]
    # What is fast elsewhere clears nothing of a job whose slow place is known.
    if evidence.reference and not evidence.suspects:
        found = [_beside(cause, evidence.reference) for cause in found]
    rounded = [replace(cause, confidence=round(cause.confidence, 2)) for cause in found]
    return tuple(sorted(rounded, key=lambda cause: -cause.confidence)[:MOST_CAUSES])


def _beside(cause: Cause, reference: str) -> Cause:
    """Return *cause* as it looks beside a log of several servers that are not slow."""
    if cause.id in _OF_THE_FABRIC:
        sure = (
            cause.confidence + 0.7 * (0.9 - cause.confidence) if cause.confidence < 0.9 else cause.confidence
        )
        return replace(cause, confidence=sure, evidence=f"{cause.evidence}; not slow: {reference}")
    guessed = cause.confidence < _SHOWN and cause.id in _OF_EVERY_SERVER
    return replace(cause, confidence=cause.confidence / 2) if guessed else cause
