"""What things cost, as the user's price list says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

RACK_ITEM = "rack"
PDU_ITEM = "pdu"
ITEMS = (RACK_ITEM, PDU_ITEM)


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """What one piece costs in US dollars, who says so, and the file:line it was read from."""

    price_usd: float
    source: str
    where: str


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by part id; racks and PDUs, which are in no catalogue, go by the names in ``ITEMS``."""

    name: str = ""
    prices: Mapping[str, ListedPrice] = field(default_factory=dict)

    def get(self, part_id: str) -> ListedPrice | None:
        """Return the price of a part, None when the list has none."""
        return self.prices.get(part_id)
