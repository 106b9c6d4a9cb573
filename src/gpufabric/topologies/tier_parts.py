"""A fabric's description → the switch part of each tier, and whether servers and switches speak the same network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.records.parts import NicPart, SwitchPart
from gpufabric.topologies.resolve_parts import PartSource, switch_of


@dataclass(frozen=True, slots=True)
class TierParts:
    """Switch part of each tier; one part unless the description says otherwise."""

    leaf: SwitchPart
    spine: SwitchPart
    core: SwitchPart


def tier_parts(spec: FabricSpec, catalog: PartSource) -> TierParts | None:
    """Return the switches of a fabric, None when none is named.

    Raises
    ------
    UnbuildableError
        If the switches of one fabric are of different networks, or not of the network asked for.
    """
    leaf = spec.leaf.switch or spec.switch
    spine = spec.spine.switch or spec.switch or leaf
    core = spec.core.switch or spec.switch or spine
    if leaf is None or spine is None or core is None:
        raise SpecError(
            f'fabric "{spec.name}": no switch is named; write switch: ID, with an ID from "gpufabric parts --kind switch"'
        )
    parts = TierParts(switch_of(leaf, catalog), switch_of(spine, catalog), switch_of(core, catalog))
    networks = {parts.leaf.network, parts.spine.network, parts.core.network} | (
        {spec.network} if spec.network else set()
    )
    if len(networks) > 1:
        raise UnbuildableError(
            f'fabric "{spec.name}" mixes {" and ".join(sorted(networks))} '
            f"({', '.join(dict.fromkeys(f'{p.id} is {p.network}' for p in (parts.leaf, parts.spine, parts.core)))})",
            "switches of one network",
        )
    return parts


def check_nics_speak(network: str, fabric: str, nics: Iterable[NicPart]) -> None:
    """Raise UnbuildableError if a NIC can't do *network*."""
    for nic in nics:
        if network not in nic.networks:
            raise UnbuildableError(
                f'fabric "{fabric}" is {network}, but NIC {nic.id} does {" and ".join(nic.networks)} only',
                f"{nic.networks[0]} switches, or servers with {network} NICs",
            )
