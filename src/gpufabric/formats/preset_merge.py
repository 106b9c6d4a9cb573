"""Description with ``preset: ID`` → description with the preset's values where the user is silent.

What the user writes stands. Mappings merge key by key; a mapping merges with a list of one element;
everything else replaces.
"""

from __future__ import annotations

from dataclasses import replace

from gpufabric.catalog.presets import preset_ids, preset_text, unknown_preset
from gpufabric.errors import SpecError
from gpufabric.formats.spec_errors import shown
from gpufabric.formats.yaml_nodes import Node, parse_nodes


def with_preset(user: Node) -> Node:
    """Return *user* over its preset, each node with its own file and line.

    Raises
    ------
    SpecError
        No preset has that id.
    """
    chosen = user.get("preset")
    if chosen is None or chosen.value is None:
        return user
    if not isinstance(chosen.value, str):
        raise SpecError(
            f"{chosen.place}: preset {shown(chosen)} is not text; known: {', '.join(preset_ids())}"
        )
    if chosen.value not in preset_ids():
        raise SpecError(f"{chosen.place}: {unknown_preset(chosen.value)}")
    preset = parse_nodes(preset_text(chosen.value), f"preset {chosen.value}")
    return _merged(user, _without_rival_size(preset, user))


def _without_rival_size(preset: Node, user: Node) -> Node:
    # The preset's default size must not contradict the user's server count or number of units.
    values = dict(_children(preset))
    if _gives_count(user):
        values.pop("units", None)
    if user.get("units") is not None and "servers" in values:
        groups = values["servers"]
        if isinstance(groups.value, list):  # units size the first group only
            first, *others = groups.value
            values["servers"] = replace(groups, value=[replace(first, value=_without_count(first)), *others])
        else:
            values["servers"] = replace(groups, value=_without_count(groups))
    return replace(preset, value=values)


def _without_count(group: Node) -> dict[str, Node]:
    return {key: node for key, node in _children(group).items() if key != "count"}


def _gives_count(user: Node) -> bool:
    servers = user.get("servers")
    groups = servers.value if servers is not None and isinstance(servers.value, list) else [servers]
    return any(isinstance(g, Node) and g.get("count") is not None for g in groups)


def _children(node: Node) -> dict[str, Node]:
    return node.value if isinstance(node.value, dict) else {}


def _merged(user: Node, preset: Node) -> Node:
    if isinstance(user.value, list) and len(user.value) == 1 and isinstance(preset.value, dict):
        return replace(user, value=[_merged(user.value[0], preset)])
    if isinstance(preset.value, list) and len(preset.value) == 1 and isinstance(user.value, dict):
        return _merged(user, preset.value[0])
    if not isinstance(user.value, dict) or not isinstance(preset.value, dict):
        return user
    values = {**preset.value}
    for key, node in user.value.items():
        values[key] = _merged(node, preset.value[key]) if key in preset.value else node
    return replace(user, value=values, key_lines={**preset.key_lines, **user.key_lines})
