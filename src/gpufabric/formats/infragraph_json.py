"""InfraGraph infrastructure (JSON, which its YAML reader takes too) → devices, instances and the links between them.

Read is what our writer writes: endpoints with one index each, edges one to one or, inside a device, many to many. Source:
docs/openapi.yaml of the package infragraph 3.1.0, https://github.com/Keysight/infragraph, read 2026-12-01. A bandwidth says its
unit: ``gigabits_per_second`` or ``gigabytes_per_second``; the two are not to be mixed up.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from gpufabric.errors import InputError, printable
from gpufabric.records.simulator_inputs import InfraGraph, InfraGraphEdge
from gpufabric.units import from_gbps, from_gigabytes, from_nanoseconds

MAX_BYTES = 1 << 28
NAME = re.compile(r"[A-Za-z0-9_-]{1,120}")
_CHOICES = ("custom", "device", "cpu", "xpu", "nic", "memory", "port", "switch")
_END = re.compile(r"([A-Za-z0-9_-]{1,120})\[([0-9]{1,9})\]")
_RATES = {"gigabits_per_second": from_gbps, "gigabytes_per_second": from_gigabytes}


def read(path: Path) -> InfraGraph:
    """Read an infrastructure.

    Raises
    ------
    InputError
        For anything that the schema or the service of InfraGraph would refuse, or that is not read here.
    """
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: is larger than {MAX_BYTES:,} bytes; give a smaller file")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is no JSON; give the file as it was written") from None
    return _Reading(str(path)).infrastructure(document)


class _Reading:
    def __init__(self, where: str) -> None:
        self._where = where

    def infrastructure(self, document: Any) -> InfraGraph:
        top = self._keys(
            document, "infrastructure", {"name", "devices", "links", "instances", "edges"}, {"description"}
        )
        components: dict[str, dict[str, int]] = {}
        inner: dict[str, int] = {}
        for device in top["devices"]:
            fields = self._keys(device, "device", {"name", "components", "links", "edges"}, {"description"})
            name = self._name(fields["name"], components)
            components[name] = self._components(fields["components"])
            links = self._links(fields["links"])
            inner[name] = sum(self._inner(edge, components[name], links) for edge in fields["edges"])
        instances: dict[str, tuple[str, int]] = {}
        for instance in top["instances"]:
            fields = self._keys(instance, "instance", {"name", "device", "count"}, {"description"})
            if fields["device"] not in components:
                self._refuse("an instance names an unknown device", fields["device"])
            instances[self._name(fields["name"], instances)] = (
                fields["device"],
                self._count(fields["count"]),
            )
        links = self._links(top["links"])
        edges = tuple(self._edge(edge, components, instances, links) for edge in top["edges"])
        return InfraGraph(str(top["name"]), components, instances, edges, inner)

    def _components(self, listed: Any) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in listed:
            fields = self._keys(one, "component", {"name", "count", "choice"}, {"description", *_CHOICES})
            if fields["choice"] not in _CHOICES or set(_CHOICES) & set(fields) - {fields["choice"]}:
                self._refuse("a component is of an unknown kind", fields["choice"])
            found[self._name(fields["name"], found)] = self._count(fields["count"])
        return found

    def _links(self, listed: Any) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for link in listed:
            fields = self._keys(link, "link", {"name"}, {"description", "physical"})
            physical = self._keys(fields.get("physical", {}), "physical", set(), {"bandwidth", "latency"})
            rate = self._chosen(physical.get("bandwidth"), _RATES)
            delay = self._chosen(physical.get("latency"), {"ns": from_nanoseconds})
            found[self._name(fields["name"], found)] = (rate, delay)
        return found

    def _chosen(self, given: Any, units: Any) -> float:
        if given is None:
            return math.nan
        unit = given.get("choice") if isinstance(given, dict) else None
        value = given.get(unit) if unit in units else None
        if (
            value is None
            or isinstance(value, bool)
            or not isinstance(value, int | float)
            or set(given) != {"choice", unit}
        ):
            self._refuse("a rate or latency does not say its unit once", given)
        return float(units[unit](value))

    def _inner(self, edge: Any, components: dict[str, int], links: Any) -> int:
        fields = self._keys(edge, "edge", {"ep1", "ep2", "scheme", "link"}, set())
        counts = []
        for end in ("ep1", "ep2"):
            component = self._keys(fields[end], "endpoint", {"component"}, set())["component"]
            name, _, span = str(component).rstrip("]").partition("[")
            first, _, last = span.partition(":")
            if name not in components or not first.isdecimal() or not (last or "0").isdecimal():
                self._refuse("an endpoint is not in its device", component)
            counts.append(int(last) - int(first) if last else 1)
            if (int(last) if last else int(first) + 1) > components[name]:
                self._refuse("an endpoint is beyond its count", component)
        if fields["link"] not in links:
            self._refuse("an edge names an unknown link", fields["link"])
        return counts[0] * counts[1] if fields["scheme"] == "many2many" else min(counts)

    def _edge(self, edge: Any, components: Any, instances: Any, links: Any) -> InfraGraphEdge:
        fields = self._keys(edge, "edge", {"ep1", "ep2", "scheme", "link"}, set())
        if fields["scheme"] != "one2one" or fields["link"] not in links:
            self._refuse("an edge is not one to one over a known link", fields["link"])
        ends = []
        for end in ("ep1", "ep2"):
            given = self._keys(fields[end], "endpoint", {"instance", "component"}, set())
            instance, component = (_END.fullmatch(str(given[key])) for key in ("instance", "component"))
            if instance is None or component is None or instance[1] not in instances:
                raise self._wrong("an endpoint is no NAME[INDEX]", given)
            device, count = instances[instance[1]]
            if int(instance[2]) >= count or int(component[2]) >= components[device].get(component[1], 0):
                self._refuse("an endpoint is beyond its count", given)
            ends.append((instance[1], int(instance[2]), component[1], int(component[2])))
        return InfraGraphEdge((ends[0], ends[1]), *links[fields["link"]])

    def _keys(self, given: Any, what: str, needed: set[str], allowed: set[str]) -> dict[str, Any]:
        if not isinstance(given, dict) or not needed <= set(given) <= needed | allowed:
            self._refuse(f"the keys of {what} are not {', '.join(sorted(needed | allowed))}", given)
        return dict(given)

    def _name(self, text: Any, taken: Any) -> str:
        if not isinstance(text, str) or not NAME.fullmatch(text) or text in taken:
            self._refuse("a name has other characters than letters, digits, _ and -, or stands twice", text)
        return str(text)

    def _count(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 31:
            self._refuse("a count is no whole number above 0", value)
        return int(value)

    def _refuse(self, what: str, found: Any) -> None:
        raise self._wrong(what, found)

    def _wrong(self, what: str, found: Any) -> InputError:
        shown = printable(str(found), 60)
        return InputError(f'{self._where}: {what} ("{shown}"); give an infrastructure of InfraGraph 3')
