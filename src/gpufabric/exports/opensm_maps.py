"""Cluster → the files that OpenSM is given beside its fabric: GUIDs of root switches, and names of nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.exports.infiniband_subnets import file_name, infiniband_subnets, with_system_names
from gpufabric.exports.legal_names import NameRule, check_names
from gpufabric.exports.text_pieces import text_pieces
from gpufabric.graphs.cluster_subnet import LaidSubnet, adapter_ports
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget

_RULE = NameRule("opensm", r"[ !#-~]+", 63, "printable ASCII characters without double quotes")


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``root_guids.conf`` and ``node-name-map`` of each subnet.

    The GUIDs of a fabric that was read from files are its own; those of a design are the counted ones of the target ibsim.

    Raises
    ------
    InputError
        If a name can't be a node description, a subnet has more nodes than LIDs, or the files that were read have no GUIDs.
    """
    files = []
    for word, laid, links in infiniband_subnets(source):
        named = with_system_names(source, laid, links)
        check_names(named.subnet.names, _RULE)
        guids = _guids(source, named, links)
        roots = (f"0x{guid:016x}" for guid in guids[named.roots].tolist())
        files.append(ExportedFile(file_name("root_guids", word, ".conf"), text_pieces(roots)))
        names = _names(named, guids)
        files.append(ExportedFile(file_name("node-name-map", word, ""), text_pieces(names)))
    return tuple(files)


def _names(laid: LaidSubnet, guids: NDArray[np.uint64]) -> Iterator[str]:
    for guid, name in zip(guids.tolist(), laid.subnet.names, strict=True):
        if guid:
            yield f'0x{guid:016x} "{name}"'


def _guids(source: ExportSource, laid: LaidSubnet, links: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the GUID of each node."""
    if source.found is None:
        return laid.subnet.guid.astype(np.uint64)
    guids = source.found.device_guid[laid.device].copy()
    ends = adapter_ports(source.cluster, links)
    guids[: len(ends)] = source.found.port_guid[ends]
    if not guids[laid.roots].all():
        raise InputError(
            "opensm-maps: the files that were read have no GUIDs of the root switches; OpenSM knows switches by nothing else; "
            "give the output of ibnetdiscover"
        )
    return guids


TARGET = ExportTarget(
    name="opensm-maps",
    title="OpenSM root GUIDs (-a) and node name map",
    files="root_guids.conf and node-name-map, a pair a subnet",
    kept="which switches are the roots of the tree, and the name of every node",
    lost="all wiring; GUIDs of a design are the counted ones of the target ibsim, those of files that were read are real",
    network="infiniband",
    source="opensm(8), options --root_guid_file and --node_name_map, "
    "https://manpages.debian.org/bookworm/opensm/opensm.8.en.html, read 2026-12-01",
    write=write,
)
