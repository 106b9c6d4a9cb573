"""Fibres between two racks → the trunk between their patch panels: one of the catalogue, or a generic one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpufabric.errors import UnbuildableError
from gpufabric.records.parts import AnyPart, CablePart

# A link takes a whole plug of the trunk. Parallel optics (SR4, DR4) light eight of the twelve fibres of an MPO-12.
_FIBRES_OF_PLUG = {"lc-duplex": 2, "mpo-16-apc": 16}
_FIBRES_OF_MPO_12 = 12
_LIT_FIBRES = {"lc-duplex": 2, "mpo-16-apc": 16}
_LIT_OF_MPO_12 = 8
_GENERIC = re.compile(r"^generic-trunk-(\d{1,4})f-(multimode|single-mode)-([a-z0-9\-]+)$")


def links_of_trunk(fibres: int, connector: str) -> int:
    """Return how many links a trunk of *fibres* carries whose links end in *connector*; at least one.

    Raises
    ------
    UnbuildableError
        If the trunk has fewer fibres than one link lights, or a fibre without a pair.
    """
    lit = _LIT_FIBRES.get(connector, _LIT_OF_MPO_12)
    if fibres < lit or fibres % 2:
        raise UnbuildableError(
            f"trunk_fibres: a trunk of {fibres} fibres can't carry a link over {connector}, which lights {lit}, in pairs",
            f"trunk_fibres: {max(lit, fibres + fibres % 2)}",
        )
    return max(1, fibres // _FIBRES_OF_PLUG.get(connector, _FIBRES_OF_MPO_12))


def trunk_part(fibres: int, medium: str, connector: str, cables: Iterable[AnyPart]) -> str:
    """Return the id of the one of *cables* that is a trunk of these fibres, else of a generic one (:func:`generic_trunks`)."""
    links = links_of_trunk(fibres, connector)
    for part in cables:
        if isinstance(part, CablePart) and part.technology == "trunk":
            same = part.medium == medium and {part.a_connector, part.b_connector} == {connector}
            if same and part.links == links:
                return part.id
    return f"generic-trunk-{fibres}f-{medium}-{connector}"


def generic_trunks(part_ids: set[str]) -> dict[str, CablePart]:
    """Return the generic trunks among *part_ids*: so many fibres of a medium, and nothing else is known of them."""
    found = [(part_id, _GENERIC.match(part_id)) for part_id in sorted(part_ids)]
    return {
        part_id: _generic_trunk(part_id, int(match[1]), match[2], match[3])
        for part_id, match in found
        if match
    }


def _generic_trunk(part_id: str, fibres: int, medium: str, connector: str) -> CablePart:
    return CablePart.model_validate(
        {
            "id": part_id,
            "vendor": "generic",
            "model": f"trunk of {fibres} {medium} fibres",
            "status": "generic",
            "technology": "trunk",
            "a_connector": connector,
            "b_connector": connector,
            "links": links_of_trunk(fibres, connector),
            "medium": medium,
        }
    )
