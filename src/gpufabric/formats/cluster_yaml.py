"""Cluster description in YAML → :class:`~gpufabric.records.cluster_spec.ClusterSpec`."""

from __future__ import annotations

from pathlib import Path

from gpufabric.catalog.presets import preset_ids, preset_text
from gpufabric.errors import InputError, did_you_mean
from gpufabric.formats.cluster_consistency import check_names, check_unique, with_counts
from gpufabric.formats.preset_merge import with_preset
from gpufabric.formats.spec_errors import validate_node
from gpufabric.formats.yaml_nodes import label, parse_nodes, read_text
from gpufabric.records.cluster_spec import ClusterSpec

PRESET_PREFIX = "preset:"


def resolve_spec(argument: str) -> ClusterSpec:
    """Return the description that a command's SPEC argument means.

    Parameters
    ----------
    argument
        Path of a file, ``-`` for standard input, ``preset:ID``, or a bare preset id when no file has that
        name.

    Raises
    ------
    InputError
        Neither a file nor a preset, or the description is wrong.
    """
    if argument.startswith(PRESET_PREFIX):
        return preset_spec(argument.removeprefix(PRESET_PREFIX))
    if argument in preset_ids() and not Path(argument).exists():
        return preset_spec(argument)
    try:
        return read_cluster_spec(argument)
    except InputError as error:
        hint = did_you_mean(argument[:80], preset_ids())
        raise (InputError(f"{error}.{hint}") if hint and "no such file" in str(error) else error) from None


def preset_spec(preset: str) -> ClusterSpec:
    """Return the description of the preset with the id *preset*.

    Raises
    ------
    InputError
        No preset has that id.
    """
    preset_text(preset)  # refuses an unknown id
    return parse_cluster_spec(f"preset: {preset}", f"preset {preset}")


def read_cluster_spec(path: Path | str) -> ClusterSpec:
    """Read the cluster description in the file *path*.

    Parameters
    ----------
    path
        File of at most 1 MiB, UTF-8, YAML 1.2; ``-`` is standard input. Paths inside it are taken from its
        folder.

    Returns
    -------
    ClusterSpec
        With its preset merged in and the server count of every group definite.

    Raises
    ------
    InputError
        The file can't be read.
    SpecError
        The description is wrong; one line an error, each with file and line.
    """
    spec = parse_cluster_spec(read_text(path), label(path))
    return spec if str(path) == "-" else _rebased(spec, Path(path).parent)


def parse_cluster_spec(text: str, where: str) -> ClusterSpec:
    """Return the cluster description in *text*; messages name it *where*.

    Raises
    ------
    SpecError
        The description is wrong; one line an error, each with file and line.
    """
    root = with_preset(parse_nodes(text, where))
    check_unique(root)
    spec = validate_node(ClusterSpec, root)
    check_names(spec, root)
    return with_counts(spec, root)


def _rebased(spec: ClusterSpec, folder: Path) -> ClusterSpec:
    paths = {"parts": spec.parts, "prices": spec.prices}
    changed: dict[str, object] = {key: str(folder / path) for key, path in paths.items() if path is not None}
    order = spec.rank_order
    if order.file is not None:
        changed["rank_order"] = order.model_copy(update={"file": str(folder / order.file)})
    return spec.model_copy(update=changed)
