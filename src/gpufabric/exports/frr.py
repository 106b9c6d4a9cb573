"""Cluster → configuration of FRRouting, one ``frr.conf`` a switch.

Commands as in the manual of FRRouting 8.4, https://docs.frrouting.org/en/stable-8.4/bgp.html (read 2026-11): the profile
``datacenter`` sets keepalive 3 s and hold time 9 s, advertises at once, and needs no policy on EBGP sessions.

``no zebra nexthop kernel enable`` has zebra write next hops into routes. With groups of next hops in the kernel, releases to 8.4
at least leave a link unused once it has come back (seen in ``gpufabric lab ip``; https://github.com/FRRouting/frr/issues/15505,
https://github.com/FRRouting/frr/pull/13413 and /18374, and for this way round it /issues/14481, all read 2026-12).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from gpufabric.exports.routed_interfaces import routed_interfaces
from gpufabric.exports.routed_switches import (
    ASN,
    BFD,
    LINKS,
    POOL,
    RoutedSwitch,
    chosen,
    host_names,
    plan_of,
    routed_switches,
)
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget

TEMPLATES = Path(__file__).parent / "templates"
_MOST_PATHS = 256  # what Debian's and FRR's own packages are built for (--enable-multipath)


def template(name: str) -> Template:
    """Return a template of this folder; what it writes is no HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def frr_conf(page: Template, switch: RoutedSwitch, numbered: bool, bfd: bool) -> str:
    """Return the configuration of one switch."""
    paths = min(_MOST_PATHS, max(1, len(switch.uplinks)))
    return page.render(switch=switch, numbered=numbered, bfd=bfd, paths=paths)


def _write(source: ExportSource) -> Iterator[ExportedFile]:
    numbered, bfd = chosen(source, LINKS) == "numbered", chosen(source, BFD) == "on"
    plan, names = plan_of(source), host_names(source.cluster)
    page = template("frr.conf.j2")
    for switch in routed_switches(source.cluster, plan, names, routed_interfaces(source.cluster)):
        yield ExportedFile.of_text(f"{switch.name}/frr.conf", frr_conf(page, switch, numbered, bfd))


TARGET = ExportTarget(
    name="frr",
    title="FRRouting 8.4 and later, integrated configuration",
    files="SWITCH/frr.conf",
    kept="every switch with its loopback, autonomous system, interfaces and BGP sessions; planes and rails that do not meet are "
    "routing domains of their own",
    lost="rates, lengths and cable parts; bonds (their ports are routed one by one); links between fabrics",
    network="ethernet",
    source="FRRouting user guide 8.4, BGP, https://docs.frrouting.org/en/stable-8.4/bgp.html, read 2026-11; RFC 7938",
    write=_write,
    options=(LINKS, BFD, POOL, ASN),
)
