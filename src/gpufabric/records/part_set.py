"""The parts that one cluster is made of, those that its description gave inline included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpufabric.records.parts import (
    AnyPart,
    AppliancePart,
    CablePart,
    NicPart,
    RackPart,
    ServerPart,
    SwitchPart,
    TransceiverPart,
)


@dataclass(frozen=True, slots=True)
class PartSet:
    """Parts by the id that ``Cluster.parts`` uses, by kind."""

    servers: Mapping[str, ServerPart]
    nics: Mapping[str, NicPart]
    switches: Mapping[str, SwitchPart]
    cables: Mapping[str, CablePart] = field(default_factory=dict)
    transceivers: Mapping[str, TransceiverPart] = field(default_factory=dict)
    appliances: Mapping[str, AppliancePart] = field(default_factory=dict)
    racks: Mapping[str, RackPart] = field(default_factory=dict)

    def get(self, part_id: str) -> AnyPart | None:
        """Return the part of this id, None when it is not in the set."""
        return self.by_id.get(part_id)

    @property
    def by_id(self) -> dict[str, AnyPart]:
        """All parts of the set by id."""
        devices = (self.servers, self.nics, self.switches, self.appliances, self.racks)
        bought = (*devices, self.cables, self.transceivers)
        return {part_id: part for kind in bought for part_id, part in kind.items()}
