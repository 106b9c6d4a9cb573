"""One fabric to be wired, split into its planes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpufabric.errors import SpecError, UnbuildableError
from gpufabric.records.cluster_spec import FabricSpec
from gpufabric.records.parts import SwitchPart
from gpufabric.topologies.clos_design import design_clos
from gpufabric.topologies.cluster_draft import ClusterDraft
from gpufabric.topologies.fabric_rows import WiredPlane
from gpufabric.topologies.folded_clos import ClosWiring
from gpufabric.topologies.leaf_groups import GroupLeaves, group_sides, rank_in_group
from gpufabric.topologies.managers import connect_managers
from gpufabric.topologies.resolve_parts import PartSource
from gpufabric.topologies.server_endpoints import Endpoints
from gpufabric.topologies.switch_ports import switch_modes
from gpufabric.topologies.tier_parts import TierParts
from gpufabric.units import counted, format_gbps


@dataclass(frozen=True, slots=True)
class FabricSite:
    """Everything that a topology needs: the draft to wire in, the fabric's index, its description, parts and server ports.

    ``endpoints.plane`` already holds the plane of the fabric (0 .. planes − 1).
    """

    draft: ClusterDraft
    fabric: int
    spec: FabricSpec
    parts: TierParts | None
    endpoints: Endpoints
    planes: int
    catalog: PartSource
    network: str

    @property
    def switches(self) -> TierParts:
        """The switch part of each tier, for the topologies that have switches.

        Raises
        ------
        SpecError
            If the description names none.
        """
        if self.parts is None:
            raise SpecError(f'fabric "{self.spec.name}": topology {self.spec.topology} needs switches')
        return self.parts

    def of_plane(self, plane: int) -> Endpoints:
        """Return the server ports of one plane."""
        return self.endpoints.take(np.flatnonzero(self.endpoints.plane == plane))

    def largest_switch(self, bytes_per_s: float) -> str:
        """Return a sentence that names the switch of the catalogue with the most ports of this rate."""
        best = (0, "")
        for part in self.catalog.of_kind("switch"):
            if isinstance(part, SwitchPart) and part.network == self.switches.leaf.network:
                modes = switch_modes(part) if any(c.purpose == "fabric" for c in part.cages) else None
                rates = {m.port_bytes_per_s for m in modes.cages.modes} if modes else set()
                if modes and any(abs(r / bytes_per_s - 1) < 1e-6 for r in rates):
                    best = max(best, (modes.radix(bytes_per_s), part.id))
        if not best[0]:
            return f"no switch of the catalogue has {format_gbps(bytes_per_s)} ports"
        kind = f"{self.switches.leaf.network} switch of the catalogue with {format_gbps(bytes_per_s)} ports"
        return f"the largest {kind} has {best[0]} ({best[1]})"


def assign_planes(endpoints: Endpoints, planes: int | None) -> tuple[Endpoints, int]:
    """Return the server ports with their plane of the fabric, and the number of planes.

    The ports of one NIC go to different planes first (port *p* to plane *p*); more planes than that split the NICs, NIC *i* to
    group *i* modulo the groups; fewer planes fold the ports together.

    Raises
    ------
    UnbuildableError
        If the server's ports can't be shared equally over the planes.
    """
    own = int(endpoints.plane.max()) + 1
    count = planes or own
    per_server = int((endpoints.position == 0).sum())
    if (count > own and count % own) or (count < own and own % count) or per_server % count:
        nearest = next(
            p
            for p in range(min(count, per_server), 0, -1)
            if not per_server % p and not (p % own and own % p)
        )
        raise UnbuildableError(
            f"{per_server} server ports on {counted(own, 'plane')} of the "
            f"NIC can't be shared equally over {counted(count, 'plane')}",
            f"planes: {nearest}",
        )
    if count <= own:
        plane = endpoints.plane % count
    else:
        nic = rank_in_group(endpoints.position.astype(np.int64) * own + endpoints.plane)
        group = np.where(endpoints.rail >= 0, endpoints.rail, nic) % (count // own)
        plane = endpoints.plane + own * group
    return replace(endpoints, plane=plane.astype(np.int16)), count


def wire_clos_planes(site: FabricSite, group: GroupLeaves) -> list[WiredPlane]:
    """Wire each plane of *site* as a folded Clos with the given grouping of server ports to leaves, then its managers.

    Raises
    ------
    UnbuildableError
        If a plane can't be built.
    """
    design = design_clos(site.spec, site.switches, float(site.endpoints.nic_bytes_per_s.min()))
    wiring = ClosWiring(site.draft, design, site.fabric)
    grouping = group_sides(group)
    planes = [wiring.add_plane(site.of_plane(plane), plane, grouping) for plane in range(site.planes)]
    if site.spec.managers:
        connect_managers(site.draft, site.spec.managers, site.fabric, planes, design.down_bytes_per_s)
    _refuse_islands(site, planes)
    return planes


def _refuse_islands(site: FabricSite, planes: list[WiredPlane]) -> None:
    """Raise UnbuildableError if leaves of one tier can't reach each other; leaves of different rails meet in the servers."""
    islands = max((len(plane.leaves) for plane in planes if plane.tiers == 1), default=1)
    meet_inside = len(np.unique(site.endpoints.rail)) if site.spec.topology == "rail-optimized" else 1
    if islands > meet_inside and site.spec.uplinks is None:
        raise UnbuildableError(
            f"one tier of {counted(islands, 'leaf', 'leaves')} has no link from one leaf to another",
            "tiers: 2, topology single-switch, or uplinks to another fabric",
        )
