"""Job description in YAML → :class:`~gpufabric.records.job_spec.JobSpec`."""

from __future__ import annotations

from pathlib import Path

from gpufabric.formats.spec_errors import joined, validate_node
from gpufabric.formats.yaml_nodes import label, parse_nodes, read_text
from gpufabric.records.job_spec import JobSpec

MODEL_FILE_SUFFIX = ".json"


def read_job_spec(path: Path | str) -> JobSpec:
    """Read the job description in the file *path*.

    Parameters
    ----------
    path
        File of at most 1 MiB, UTF-8, YAML 1.2; ``-`` is standard input. The path of a model file
        is taken from its folder.

    Raises
    ------
    InputError
        The file can't be read.
    SpecError
        The description is wrong; one line an error, each with file and line.
    """
    spec = parse_job_spec(read_text(path), label(path))
    if str(path) == "-" or not isinstance(spec.model, str) or not spec.model.endswith(MODEL_FILE_SUFFIX):
        return spec
    return spec.model_copy(update={"model": str(Path(path).parent / spec.model)})


def parse_job_spec(text: str, where: str) -> JobSpec:
    """Return the job description in *text*; messages name it *where*.

    Raises
    ------
    SpecError
        The description is wrong; one line an error, each with file and line.
    """
    root = parse_nodes(text, where)
    spec = validate_node(JobSpec, root)
    order = spec.placement.order or ()
    twice = sorted({axis for axis in order if order.count(axis) > 1})
    if twice:
        node = root.get("placement", "order")
        place = root.place if node is None else node.place
        raise joined([f'{place}: order names "{axis}" twice; allowed is once; remove one' for axis in twice])
    return spec
