"""What real ibnetdiscover saw of a designed subnet → whether it is that design."""

from __future__ import annotations

import io
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.exports import opensm_maps
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.check_wiring import WiringDesign, check_wiring
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.export_target import ExportSource
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet

_ADAPTER = re.compile(r'^(Ca\t\d+ "H-([0-9a-f]{16})"\s*# )"[^"]*"', re.MULTILINE)
_MAPPED = re.compile(r'^0x([0-9a-f]{16}) "([^"]*)"$', re.MULTILINE)

ROOTS, NAMES = "root_guids.conf", "node-name-map"


@dataclass(frozen=True, slots=True)
class DiscoveredWiring:
    """As discovered against as designed: links compared, links that are where they belong, and what became of their rates."""

    links: int
    links_as_designed: int
    speed: str

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        return asdict(self)


def write_maps(
    built: tuple[Cluster, PartSet], spec: ClusterSpec, place: tuple[int, int], folder: Path
) -> tuple[Path, Path]:
    """Write the files that ``export --to opensm-maps`` gives for one subnet, and return where they are.

    Parameters
    ----------
    built
        Cluster and parts.
    spec
    place
        Index of the fabric, and which of its subnets, from 1.
    folder

    Returns
    -------
    root-GUID file, node-name map
    """
    fabric, plane = place
    files = tuple(opensm_maps.write(ExportSource(*built, spec, None, (fabric,))))
    paths = folder / ROOTS, folder / NAMES
    for path, file in zip(paths, files[2 * plane - 2 : 2 * plane], strict=True):
        with path.open("wb") as stream:
            stream.writelines(file.pieces)
    return paths


def name_adapters(text: str, names: str) -> str:
    """Return a netlist with the adapters' headers named by a node-name map, as ibnetdiscover names all but those itself."""
    known = dict(_MAPPED.findall(names))
    return _ADAPTER.sub(lambda found: f'{found[1]}"{known.get(found[2], found[2])}"', text)


def compare_discovered(
    cluster: Cluster, parts: PartSet, links: NDArray[np.int64], text: str
) -> tuple[DiscoveredWiring, tuple[Finding, ...]]:
    """Compare what ibnetdiscover printed with the links of one subnet.

    Parameters
    ----------
    cluster, parts
    links
        Of the subnet.
    text
        Of ibnetdiscover, with the names of the node-name map.

    Raises
    ------
    InputError
        If it tells of no fabric.
    """
    found = read_fabric(io.BytesIO(text.encode()), "ibnetdiscover")
    if found is None:
        raise InputError("ibnetdiscover: printed no netlist; run it by hand to see why")
    kept = np.zeros(len(cluster.links), np.bool_)
    kept[links] = True
    design = WiringDesign(without_links(cluster, kept), "description", parts, None, {})
    checked = check_wiring(design, [found]).check
    seen = [text for text in checked.assumptions if text.startswith("rates are not judged")]
    speed = "not observable (ibsim gives every link 4xSDR)" if seen else "compared"
    match = checked.match
    return DiscoveredWiring(match.links, match.links_as_designed, speed), checked.findings
