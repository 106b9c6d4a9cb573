"""Cluster description whose keys are each fine → one without contradictions, every server count definite."""

from __future__ import annotations

from gpufabric.errors import SpecError, did_you_mean, printable
from gpufabric.formats.spec_errors import joined
from gpufabric.formats.yaml_nodes import Node
from gpufabric.records.cluster_spec import MAX_SERVERS, ClusterSpec, FabricSpec, ServerGroup
from gpufabric.units import counted


def check_unique(root: Node) -> None:
    """Check, before anything else, that no two server groups and no two fabrics share a name.

    Raises
    ------
    SpecError
        With the lines of both.
    """
    for key, what, model in (("servers", "server group", ServerGroup), ("fabrics", "fabric", FabricSpec)):
        entries = root.get(key)
        seen: dict[str, int] = {}
        for entry in entries.value if entries is not None and isinstance(entries.value, list) else ():
            named = entry.get("name")
            name = named.value if named is not None else model.model_fields["name"].default
            if isinstance(name, str) and seen.setdefault(name, entry.line) != entry.line:
                lines = f"lines {seen[name]} and {entry.line}"
                used = f'{what} name "{printable(name)}" is used on {lines}'
                raise SpecError(f"{entry.place}: {used}; give each {what} its own name")


def check_names(spec: ClusterSpec, root: Node) -> None:
    """Check that server groups name fabrics that exist and that growth does not shrink.

    Raises
    ------
    SpecError
        One line an error.
    """
    known = [fabric.name for fabric in spec.fabrics]
    errors = [
        f'{_place(root, "servers", i)}: server group "{group.name}" names the unknown fabric "{name}";'
        f" known: {', '.join(known)}.{did_you_mean(name, known)}"
        for i, group in enumerate(spec.servers)
        for name in group.fabrics or {}
        if name not in known
    ]
    if spec.units is not None and spec.grow_to is not None and spec.grow_to < spec.units:
        errors.append(
            f"{_place(root, 'grow_to')}: grow_to {spec.grow_to:,} is less than units {spec.units:,}; "
            f"allowed is {spec.units:,} or more; raise it or remove it"
        )
    if errors:
        raise joined(errors)


def with_counts(spec: ClusterSpec, root: Node) -> ClusterSpec:
    """Return *spec* with the count of every server group definite.

    The first compute group may leave its count to ``units``: units × servers of a unit, less the server that
    gives its place to the fabric managers. Given both, they must agree: the servers fill all units but for
    part of the last.

    Raises
    ------
    SpecError
        A count is missing or contradicts ``units``.
    """
    main = next((i for i, group in enumerate(spec.servers) if group.purpose == "compute"), 0)
    groups = list(spec.servers)
    for index, group in enumerate(groups):
        if index == main and spec.units is not None:
            groups[index] = _sized(spec, group, spec.units, root)
        elif group.count is None:
            hint = ", or units: … and the fabric's unit_servers" if index == main else ""
            place = _place(root, "servers", index)
            raise SpecError(f'{place}: server group "{group.name}" has no count; write count: …{hint}')
    return spec.model_copy(update={"servers": tuple(groups)})


def _sized(spec: ClusterSpec, group: ServerGroup, units: int, root: Node) -> ServerGroup:
    place = _place(root, "units")
    fabric = _fabric_of(spec, group)
    if fabric.unit_servers is None:
        raise SpecError(
            f"{place}: units {units:,} says nothing without the servers of a unit; "
            f'write unit_servers in the fabric "{fabric.name}", or count in servers instead of units'
        )
    unit = fabric.unit_servers
    full = units * unit
    if group.count is None:
        taken = 1 if fabric.managers is not None and fabric.managers.takes_server else 0
        if not 1 <= full - taken <= MAX_SERVERS:
            raise SpecError(
                f"{place}: units {units:,} of {unit:,} servers are {counted(full - taken, 'server')}; "
                f"allowed is 1 to {MAX_SERVERS:,}; change units"
            )
        return group.model_copy(update={"count": full - taken})
    if not full - unit < group.count <= full:
        raise SpecError(
            f"{place}: units {units:,} and count {group.count:,} contradict each other "
            f"(a unit has {counted(unit, 'server')}); allowed is a count of {full - unit + 1:,} to {full:,}; "
            "remove one of the two"
        )
    return group


def _fabric_of(spec: ClusterSpec, group: ServerGroup) -> FabricSpec:
    named = [fabric for fabric in spec.fabrics if fabric.name in (group.fabrics or {})]
    return (named or list(spec.fabrics))[0]


def _place(root: Node, key: str, index: int | None = None) -> str:
    node = root.get(key)
    if node is None:
        return root.place
    if index is not None and isinstance(node.value, list):
        return node.value[index].place
    return root.key_lines[key].place
