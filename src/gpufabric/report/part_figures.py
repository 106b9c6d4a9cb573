"""A part → its figures as text with units, each with its source and marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel

from gpufabric import units
from gpufabric.records.part_sheet import Figure
from gpufabric.records.parts import (
    AnyPart,
    AppliancePart,
    CablePart,
    CageGroup,
    GpuPart,
    InsideGpu,
    InsideNic,
    InsidePcie,
    NicPart,
    NicPort,
    Part,
    PduPart,
    Price,
    RackPart,
    ServerCage,
    ServerPart,
    SplitMode,
    SwitchPart,
    TransceiverPart,
)
from gpufabric.units import counted

_NETWORK_RATES = ("port_bytes_per_s", "link_bytes_per_s", "total_bytes_per_s", "throughput_bytes_per_s")
_INSIDE = (InsideGpu, InsideNic, InsidePcie, NicPort)
_SUFFIXES: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("_s_per_m", lambda value: f"{units.format_time(value)}/m"),
    ("_bytes", lambda value: f"{units.format_gibibytes(value)} ({units.format_bytes(value)})"),
    ("_w", units.format_power),
    ("_kg", lambda value: f"{value:g} kg"),
    ("_usd", lambda value: f"{value:,.2f} USD"),
    ("_cfm", lambda value: f"{value:g} CFM"),
    ("_v", lambda value: f"{value:g} V"),
    ("_a", lambda value: f"{value:g} A"),
    ("_m", units.format_length),
    ("_s", units.format_time),
)


def part_figures(part: AnyPart) -> tuple[Figure, ...]:
    """Return one figure for each field of *part* that has a value.

    A field inside a table, such as ``cages.connector``, has a figure of its own if the part gives it a
    source or mark of its own. What is unknown is left out.
    """
    marked = {*part.source_of, *part.secondary, *part.assumed}
    figures = []
    for name in type(part).model_fields:
        if name in Part.model_fields or name == "kind":
            continue
        value = getattr(part, name)
        if value in (None, "", ()):
            continue
        figures.append(_figure(part, name, value, figure_text(name, value)))
        for path in sorted(key for key in marked if key.startswith(f"{name}.")):
            inner = tuple(dict.fromkeys(_values_at(value, path.split(".")[1:])))
            figures.append(_figure(part, path, inner, figure_text(path.rsplit(".", 1)[1], inner)))
    return tuple(figures)


def figure_text(name: str, value: Any) -> str:
    """Return the value of the field *name* as text; the field's suffix says its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, BaseModel):
        return table_text(value)
    if isinstance(value, tuple):
        if value and isinstance(value[0], _INSIDE):
            return f"{len(value)}, see the picture"
        joiner = "; " if value and isinstance(value[0], BaseModel) else ", "
        return joiner.join(figure_text(name, item) for item in value)
    if isinstance(value, int | float):
        return _number_text(name, value)
    return str(value)


def table_text(table: BaseModel) -> str:
    """Return a table inside a part as text; what is unknown or left at no is left out."""
    if isinstance(table, SplitMode):
        disables = " (disables the next cage)" if table.disables_next_cage else ""
        return f"{table.ports} × {units.format_gbps(table.port_bytes_per_s)}{disables}"
    if isinstance(table, Price):
        return f"{table.amount:,.2f} {table.currency}"
    if isinstance(table, CageGroup):
        modes = " or ".join(table_text(mode) for mode in table.modes)
        power = (
            f", {units.format_power(table.max_module_power_w)} a module" if table.max_module_power_w else ""
        )
        purpose = f", {table.purpose}" if table.purpose != "fabric" else ""
        return f"{table.count} × {table.connector or 'cage'} as {modes}{power}{purpose}"
    if isinstance(table, ServerCage):
        last = table.first + table.count - 1
        which = f"{table.first} to {last}" if table.count > 1 else f"{table.first}"
        ports = f", {table.ports} ports each" if table.ports > 1 else ""
        return f"{table.label or 'cage'} {which}: {table.connector or 'connector not known'}{ports}"
    inner = ((key, getattr(table, key)) for key in type(table).model_fields)
    shown = ((key, item) for key, item in inner if item is not False and item not in (None, "", ()))
    return ", ".join(f"{_words(key)} {figure_text(key, item)}" for key, item in shown)


def headline(part: AnyPart) -> str:
    """Return what a part is, in a few words."""
    if isinstance(part, GpuPart):
        facts = [("flops_bf16", "BF16"), ("hbm_bytes", "memory")]
        found = [
            f"{figure_text(f, getattr(part, f))} {word}" for f, word in facts if getattr(part, f) is not None
        ]
        return ", ".join([*found, part.scale_up] if part.scale_up else found)
    if isinstance(part, ServerPart):
        compute = sum(len(nic.ports) for nic in part.nics if nic.purpose == "compute")
        return f"{len(part.gpus)} × {part.gpu}, {compute} compute ports"
    if isinstance(part, NicPart):
        return f"{part.ports} × {units.format_gbps(part.port_bytes_per_s)}, {' and '.join(part.networks)}"
    if isinstance(part, SwitchPart):
        return ", ".join(
            f"{group.count * group.modes[0].ports} × {units.format_gbps(group.modes[0].port_bytes_per_s)}"
            for group in part.cages
            if group.purpose == "fabric"
        )
    if isinstance(part, RackPart | PduPart | AppliancePart):
        return _room_headline(part)
    return _link_headline(part)


def _room_headline(part: RackPart | PduPart | AppliancePart) -> str:
    """Return height, outlets and power, as far as they are known."""
    facts: list[str] = [part.purpose] if isinstance(part, AppliancePart) else []
    if part.rack_units is not None:
        facts.append(f"{part.rack_units:g} U")
    if isinstance(part, PduPart):
        outlets = ((part.outlets_c13, "C13"), (part.outlets_c19, "C19"))
        facts += [f"{count} × {kind}" for count, kind in outlets if count]
    if part.max_power_w is not None:
        facts.append(units.format_power(part.max_power_w))
    return ", ".join(facts)


def _link_headline(part: CablePart | TransceiverPart) -> str:
    if isinstance(part, TransceiverPart):
        return f"{part.ports} × {units.format_gbps(part.port_bytes_per_s)}, {part.connector}, {part.medium}"
    ends = f"{part.a_connector} to {f'{part.b_ends} × ' if part.b_ends > 1 else ''}{part.b_connector}"
    rate = f" of {units.format_gbps(part.link_bytes_per_s)}" if part.link_bytes_per_s else ""
    return f"{part.technology}, {ends}, {counted(part.links, 'link')}{rate}"


def _figure(part: AnyPart, name: str, value: Any, text: str) -> Figure:
    # An assumed value has no source unless the part names one for it: the default source does not say it.
    default = "" if name in part.assumed else part.default_source
    source = part.sources.get(part.source_of.get(name, default))
    return Figure(
        field=name,
        text=text,
        value=_plain(value),
        source=source.title if source else "",
        url=source.url if source else "",
        read=source.read if source else "",
        note=source.note if source else "",
        secondary=name in part.secondary,
        assumed=part.assumed.get(name, ""),
    )


def _number_text(name: str, value: float) -> str:
    if "bytes_per_s" in name:
        rate = units.format_gbps if name in _NETWORK_RATES else units.format_gigabytes_per_s
        return rate(value)
    if name.startswith("flops_"):
        return units.format_flops(value)
    for suffix, text in _SUFFIXES:
        if name.endswith(suffix):
            return text(value)
    return f"{value:g}"


def _values_at(value: Any, path: list[str]) -> Iterator[Any]:
    """Yield the known values at *path* in nested tables, stepping through lists."""
    if isinstance(value, tuple):
        for item in value:
            yield from _values_at(item, path)
    elif not path:
        if value not in (None, ""):
            yield value
    elif isinstance(value, BaseModel):
        yield from _values_at(getattr(value, path[0], None), path[1:])


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _words(name: str) -> str:
    """Return a field's name without the unit that its text carries."""
    for unit in ("_bytes_per_s", "_w", "_m"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")
