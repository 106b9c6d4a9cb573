"""What ``ip -json route`` prints → prefix and the interfaces that lead there."""

from __future__ import annotations

import json
from typing import Any

from gpufabric.errors import InputError


def read_routes(text: str) -> dict[str, frozenset[str]]:
    """Return for each prefix the interfaces that packets to it may take.

    Parameters
    ----------
    text
        JSON of iproute2. A next hop whose link is down, or that drops packets, is none.

    Raises
    ------
    InputError
        If it is no such JSON.
    """
    try:
        routes = json.loads(text or "[]")
        return {
            str(route["dst"]): frozenset(
                str(hop["dev"]) for hop in route.get("nexthops", [route]) if _is_alive(hop)
            )
            for route in routes
        }
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"ip route: printed no JSON that is known ({type(error).__name__}); use iproute2 5 or later"
        ) from None


def _is_alive(hop: dict[str, Any]) -> bool:
    return "dev" in hop and not {"dead", "linkdown"} & set(hop.get("flags", ()))
