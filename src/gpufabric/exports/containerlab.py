"""Cluster → a containerlab topology: every switch and server a container, every link a pair of virtual interfaces."""

from __future__ import annotations

from collections.abc import Iterator

from gpufabric.exports.chosen_links import chosen_links, linked_devices
from gpufabric.exports.host_names import host_rule
from gpufabric.exports.interface_names import interface_names
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.link_ends import link_ends
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.records.cluster import DeviceKind, Role
from gpufabric.records.export_target import ExportedFile, ExportOption, ExportSource, ExportTarget
from gpufabric.records.names import device_names

_KIND = ExportOption(
    "kind", ("linux", "sonic-vs"), "linux", "what switches are: FRR on Linux, or SONiC in a container"
)
_IMAGE = ExportOption(
    "image", (), "", "image of switches; without it frrouting/frr:latest or docker-sonic-vs:latest"
)
_HOST_IMAGE = ExportOption("host-image", (), "alpine:latest", "image of servers")
_IMAGES = {"linux": "frrouting/frr:latest", "sonic-vs": "docker-sonic-vs:latest"}
_LAB = NameRule(
    "containerlab", r"[A-Za-z0-9][A-Za-z0-9_.-]*", 63, "letters, digits, dots, dashes and underscores"
)
_REFERENCE = NameRule(
    "containerlab",
    r"[A-Za-z0-9][A-Za-z0-9_.:/@-]*",
    255,
    "the characters of an image reference, such as frrouting/frr:latest",
)


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``<cluster>.clab.yml``; ports of switches are called as the target frr calls them, SONiC's ``eth1`` and on.

    Raises
    ------
    InputError
        If a name is not legal in containerlab.
    """
    name = source.cluster.name
    check_names([name], _LAB, "cluster")
    kind = source.option("kind", _KIND.default)
    image = source.option("image") or _IMAGES[kind]
    host_image = source.option("host-image", _HOST_IMAGE.default)
    for reference in (image, host_image):
        check_names([reference], _REFERENCE, "image")
    links = chosen_links(source)
    devices = linked_devices(source, links)
    check_names(device_names(source.cluster, devices).tolist(), host_rule("containerlab"))
    return (ExportedFile(f"{name}.clab.yml", text_pieces(_lines(source, kind, image, host_image))),)


def _lines(source: ExportSource, kind: str, image: str, host_image: str) -> Iterator[str]:
    cluster = source.cluster
    links = chosen_links(source)
    devices = linked_devices(source, links)
    yield f'name: "{cluster.name}"'
    yield "topology:"
    yield "  nodes:"
    names = device_names(cluster, devices).tolist()
    kinds, roles = cluster.devices.kind[devices].tolist(), cluster.devices.role[devices].tolist()
    for name, is_kind, role in zip(names, kinds, roles, strict=True):
        switch = is_kind == DeviceKind.SWITCH
        yield f'    "{name}":'
        yield f"      kind: {kind if switch else 'linux'}"
        yield f'      image: "{image if switch else host_image}"'
        if role >= 0:
            yield f"      labels: {{role: {Role.NAMES[role]}}}"
    yield "  links:"
    # SONiC in a container takes eth1 as its first port, and names that were read from files may be none of Linux.
    counted = kind == "sonic-vs" or cluster.ports.names is not None
    ports = interface_names(cluster, "linux" if counted else "cumulus", source.parts, as_found=False)
    for a, port_a, b, port_b in link_ends(cluster, links, ports):
        yield f'    - endpoints: ["{a}:{port_a}", "{b}:{port_b}"]'


TARGET = ExportTarget(
    name="containerlab",
    title="containerlab topology (*.clab.yml)",
    files="CLUSTER.clab.yml",
    kept="every switch, server and link of the fabric, and the role of each device as a label",
    lost="rates, cables, parts, GPUs and racks; the configuration of switches is a target of its own (frr, sonic)",
    network="ethernet",
    source="containerlab, topology definition, https://containerlab.dev/manual/topo-def-file/, and kinds linux and sonic-vs, "
    "https://containerlab.dev/manual/kinds/, read 2026-12-01",
    write=write,
    options=(_KIND, _IMAGE, _HOST_IMAGE),
)
