"""A description or files of a fabric, and names of targets → the files of other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.exports import EXPORTS
from gpufabric.formats import lspci_text
from gpufabric.formats.found_merge import merge_found
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.jobs.sort_files import sorted_files
from gpufabric.recognition.recognise_roles import with_roles
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.records.pci_functions import PciFunction
from gpufabric.report.write_files import folder_beside

_LONGEST_NAME = 63
_PURPOSES = ("compute", "storage", "in-band", "out-of-band")


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to write.

    ``targets`` are keys of ``EXPORTS``; ``fabrics`` names of fabrics, none for all that a target can express; ``lspci`` a file of
    one server; ``settings`` the choices of targets as ``key=value``.
    """

    targets: tuple[str, ...]
    fabrics: tuple[str, ...] = ()
    lspci: Path | None = None
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """The files of one target; their pieces may be read once."""

    target: ExportTarget
    fabrics: tuple[str, ...]
    files: tuple[ExportedFile, ...]


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file on the disk: its path below the folder, and its size."""

    target: str
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Exported:
    """Everything that is to be written; ``findings`` are of the files that it was read from."""

    cluster: str
    exports: tuple[Export, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self, written: Sequence[WrittenFile]) -> dict[str, Any]:
        """Return what was written as plain JSON values."""
        return {
            "cluster": self.cluster,
            "exports": [
                {
                    "target": one.target.name,
                    "fabrics": list(one.fabrics),
                    "files": [
                        {"path": file.path, "bytes": file.bytes}
                        for file in written
                        if file.target == one.target.name
                    ],
                    "kept": one.target.kept,
                    "lost": one.target.lost,
                    "source": one.target.source,
                }
                for one in self.exports
            ],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }


def export(spec: ClusterSpec, options: ExportOptions) -> Exported:
    """Build the cluster that *spec* describes and make the files of each target.

    Raises
    ------
    InputError
        If a target, fabric or setting is unknown, or a target can't express the cluster.
    SpecError, PartError, UnbuildableError
        As of the description.
    """
    targets = known_targets(options.targets)
    racked = racked_cluster(spec, catalog_for(spec))
    purposes = tuple(fabric.purpose for fabric in spec.fabrics)
    lspci = () if options.lspci is None else lspci_text.read(options.lspci).functions
    settings = _settings(targets, options.settings)
    exports = []
    for target in targets:
        fabrics = _chosen_fabrics(racked.cluster, target, options.fabrics, purposes)
        source = ExportSource(
            racked.cluster, racked.parts, spec, racked.floor_plan, fabrics, lspci, settings[target.name]
        )
        exports.append(_made(target, source))
    return Exported(spec.name, tuple(exports), (), racked.assumptions)


def convert(files: Sequence[str], options: ExportOptions) -> Exported:
    """Read how a fabric is wired from *files* and make the files of each target.

    Raises
    ------
    InputError
        If a file tells of no wiring, or as :func:`export` does.
    """
    targets = known_targets(options.targets)
    unfit = next((target for target in targets if not target.from_files), None)
    if unfit is not None:
        raise InputError(
            f"--to {unfit.name}: needs what only a description says; use gpufabric export SPEC --to {unfit.name}"
        )
    with sorted_files(files) as read:
        if not read.fabrics or not any(len(found.cluster.links) for found in read.fabrics):
            raise InputError(
                f"{printable(files[0])}: tells of no wiring; give ibnetdiscover, iblinkinfo, LLDP, a cable list, "
                "containerlab, Air or DOT"
            )
        found = merge_found(read.fabrics)
        others = len(files) - len(read.fabrics)
    cluster = replace(with_roles(found), name=_name_of(files[0]))
    lspci: tuple[PciFunction, ...] = ()
    if options.lspci is not None:
        lspci = lspci_text.read(options.lspci).functions
    settings = _settings(targets, options.settings)
    exports = []
    for target in targets:
        fabrics = _chosen_fabrics(cluster, target, options.fabrics, ())
        source = ExportSource(
            cluster, PartSet({}, {}, {}), None, None, fabrics, lspci, settings[target.name], found
        )
        exports.append(_made(target, source))
    notes = [
        f"read {len(cluster.devices):,} devices and {len(cluster.links):,} links; parts, racks and GPUs are in none of the files"
    ]
    notes += (
        [f"{found.lines_not_understood:,} lines were not understood"] if found.lines_not_understood else []
    )
    notes += [f"{others} of the files tell of no wiring and were left out"] if others else []
    return Exported(cluster.name, tuple(exports), found.findings, tuple(notes))


def write_exports(exported: Exported, folder: Path) -> tuple[WrittenFile, ...]:
    """Write all files below *folder*, all or none; those of several targets into a folder a target.

    Raises
    ------
    InputError
        If the folder can't be written.
    """
    several = len(exported.exports) > 1
    written = []
    with folder_beside(folder) as beside:
        for one in exported.exports:
            for file in one.files:
                path = PurePosixPath(one.target.name if several else ".", _plain(file.path))
                place = beside / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as stream:
                    size = sum(map(stream.write, file.pieces))
                written.append(WrittenFile(one.target.name, str(path), size))
    return tuple(written)


def _plain(path: str) -> str:
    """Return *path* when it stays below the folder that it is written to: names of devices may come from strangers.

    Raises
    ------
    InputError
        When it does not.
    """
    segments = path.split("/")
    if any(part in ("", ".", "..") or not part.isprintable() or "\\" in part for part in segments):
        raise InputError(
            f'export: "{printable(path)}" can\'t be the name of a file; rename the device that it is called after'
        )
    return path


def known_targets(names: Iterable[str]) -> tuple[ExportTarget, ...]:
    """Return the targets of these names.

    Raises
    ------
    InputError
        For a name that there is no target of, or when there is none.
    """
    listed = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    for name in listed:
        if name not in EXPORTS:
            raise InputError(
                f'--to: "{printable(name)}" is unknown; known: {", ".join(EXPORTS)}.{did_you_mean(name, EXPORTS)}'
            )
    if not listed:
        raise InputError(
            f"--to: names no target; known: {', '.join(EXPORTS)}; gpufabric export --list says more"
        )
    return tuple(EXPORTS[name] for name in listed)


def _name_of(file: str) -> str:
    """Return what the cluster of a file is called: the file's name up to its first dot, as plain characters."""
    stem = "" if file == "-" else PurePosixPath(file).name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:_LONGEST_NAME].strip("-_") or "found"


def _made(target: ExportTarget, source: ExportSource) -> Export:
    names = tuple(source.cluster.fabrics[fabric].name for fabric in source.fabrics)
    return Export(target, names, tuple(target.write(source)))


def _settings(
    targets: Sequence[ExportTarget], given: Sequence[str]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return for each target those of the settings that it has.

    Raises
    ------
    InputError
        For a setting that is none of any target, or a value that is not allowed.
    """
    pairs = []
    for text in given:
        key, found, value = text.partition("=")
        owners = [option for target in targets for option in target.options if option.key == key]
        if not found or not owners:
            known = sorted({option.key for target in targets for option in target.options})
            raise InputError(
                f'--set: "{printable(text)}" is no setting of {", ".join(target.name for target in targets)}; allowed are '
                f"KEY=VALUE with the keys: {', '.join(known) or 'none'}.{did_you_mean(key, known)}"
            )
        for option in owners:
            if option.values and value not in option.values:
                raise InputError(
                    f'--set {key}: "{printable(value)}" is not allowed; allowed are {", ".join(option.values)}.'
                    f"{did_you_mean(value, option.values)}"
                )
        pairs.append((key, value))
    return {
        target.name: tuple(pair for pair in pairs if pair[0] in {option.key for option in target.options})
        for target in targets
    }


def _chosen_fabrics(
    cluster: Cluster, target: ExportTarget, names: Sequence[str], purposes: Sequence[str]
) -> tuple[int, ...]:
    """Return the fabrics that are exported: those named, else all that the target can express, compute first.

    Raises
    ------
    InputError
        For a name that there is no fabric of, or a network that the target can't express.
    """
    known = [fabric.name for fabric in cluster.fabrics]
    for name in names:
        if name not in known:
            raise InputError(
                f'--fabric: "{printable(name)}" is not in the cluster; it has {", ".join(map(printable, known))}.'
                f"{did_you_mean(name, known)}"
            )
    wanted = [known.index(name) for name in dict.fromkeys(names)] or list(range(len(known)))
    # A cable list does not say what its cables carry.
    fits = [
        row
        for row in wanted
        if target.network == "any" or cluster.fabrics[row].network in ("", target.network)
    ]
    if not fits or (names and len(fits) < len(wanted)):
        other = next(row for row in wanted if row not in fits)
        raise InputError(
            f"--to {target.name}: writes {target.network} only (fabric {printable(known[other])} is "
            f"{printable(cluster.fabrics[other].network)}); choose another target or fabric"
        )
    order = {purpose: rank for rank, purpose in enumerate(_PURPOSES)}
    return tuple(sorted(fits, key=lambda row: order.get(purposes[row], 0) if purposes else 0))
