"""``gpufabric parts``: what the catalogue holds, and all that is known of one part."""

from __future__ import annotations

from gpufabric.catalog.load import Catalog
from gpufabric.records.part_sheet import PartList, PartSheet, PartSummary
from gpufabric.records.parts import ServerPart
from gpufabric.report.part_figures import headline, part_figures
from gpufabric.report.server_picture import server_picture


def list_parts(catalog: Catalog, kind: str | None = None) -> PartList:
    """List the parts of a catalogue.

    Parameters
    ----------
    catalog
        Where to look.
    kind
        gpu, server, nic, switch, cable, transceiver, rack, pdu or appliance; all kinds if left out.

    Raises
    ------
    PartError
        If there is no such kind.
    """
    parts = tuple(
        PartSummary(
            id=part.id,
            kind=part.kind,
            vendor=part.vendor,
            model=part.model,
            what=headline(part),
            status=part.status,
            own=part.id in catalog.user,
            replaces=part.id in catalog.overridden,
        )
        for part in catalog.of_kind(kind)
    )
    return PartList(parts, catalog.overridden)


def show_part(catalog: Catalog, part_id: str) -> PartSheet:
    """Show every figure of a part with its source, and the inside of a server.

    Parameters
    ----------
    catalog
        Where to look.
    part_id
        Id, alias or part number.

    Raises
    ------
    PartError
        If there is no such part, or a NIC that a server names is missing.
    """
    part = catalog.get(part_id)
    picture: tuple[str, ...] = ()
    if isinstance(part, ServerPart):
        rates = {nic.part: catalog.nic(nic.part).port_bytes_per_s for nic in part.nics}
        picture = server_picture(part, rates)
    return PartSheet(
        id=part.id,
        kind=part.kind,
        vendor=part.vendor,
        model=part.model,
        status=part.status,
        part_number=part.part_number,
        aliases=part.aliases,
        description=part.description,
        figures=part_figures(part),
        picture=picture,
    )
