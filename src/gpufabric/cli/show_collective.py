"""What is asked of a collective → the prediction, printed and written as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpufabric.cli.options import named_path
from gpufabric.cli.output import note, print_document, print_table, print_text
from gpufabric.cli.progress import working
from gpufabric.errors import InputError
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import racked_cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.report.collective_table import collective_notes, collective_table
from gpufabric.report.collective_text import collective_text
from gpufabric.report.what_if_table import what_if_notes, what_if_table

if TYPE_CHECKING:
    from gpufabric.jobs.racked_cluster import RackedCluster
    from gpufabric.records.results import CollectiveResult


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to print, and where to write what; None: not wanted."""

    explain: bool
    what_if: bool
    as_json: bool
    plot: str | None = None
    log: str | None = None
    trace: str | None = None
    drawing: str | None = None


def show_collective(
    asked: tuple[ClusterSpec, str, Sequence[int], CollectiveOptions], notes: Sequence[str], outputs: Outputs
) -> None:
    """Predict and show a collective.

    Parameters
    ----------
    asked
        Description, operation, sizes and options.
    notes
        Remarks on the description, printed last.
    outputs

    Raises
    ------
    InputError
        As the prediction does, if a file can't be written, or a log is given without a plot.
    """
    spec, op, sizes, options = asked
    names = outputs.plot, outputs.log, outputs.trace, outputs.drawing
    for name in names:
        if name is not None:
            named_path(name)
    if outputs.log is not None and outputs.plot is None:
        raise InputError("--log: its points are drawn on a plot; name its file with --plot")
    with working("wiring and simulating"):
        racked = racked_cluster(spec, catalog_for(spec))
        results = predict_described(spec, op, sizes, options, racked)
        written = (
            _write_files(asked, results, outputs, racked) if any(name is not None for name in names) else []
        )
        changes = []
        if outputs.what_if:
            from gpufabric.jobs.collective_what_if import collective_what_if

            changes = collective_what_if(spec, op, max(sizes), options, racked)
    if outputs.as_json:
        body: dict[str, Any] = {"results": [result.to_dict() for result in results]}
        if outputs.what_if:
            body["what_if"] = [change.to_dict() for change in changes]
        print_document("collective", body)
    else:
        if outputs.what_if:
            print_table(*what_if_table(changes))
        else:
            print_table(*collective_table(results))
        if outputs.explain:
            print_text(collective_text(results))
        note(what_if_notes(changes) if outputs.what_if else collective_notes(results))
    for text in notes:
        note(f"note: {text}")
    if written:
        note(f"wrote {', '.join(written)}")


def _write_files(
    asked: tuple[ClusterSpec, str, Sequence[int], CollectiveOptions],
    results: Sequence[CollectiveResult],
    outputs: Outputs,
    racked: RackedCluster,
) -> list[str]:
    """Write what is wanted besides the table; most of what draws is loaded for it alone."""
    from gpufabric.jobs.collective_files import CollectiveFiles, write_collective_files

    files = CollectiveFiles(outputs.plot, outputs.log, outputs.trace, outputs.drawing)
    return write_collective_files(asked[0], results, asked[3], files, racked)
