"""Predicted collectives → a plot, a trace and a drawing with the load of links, as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.collective_detail import CollectiveDetail, detail_collective
from gpufabric.jobs.collective_timeline import collective_timeline
from gpufabric.jobs.measured_points import measured_points
from gpufabric.jobs.racked_cluster import RackedCluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.results import CollectiveResult
from gpufabric.report.collective_plot_svg import plot_collective
from gpufabric.report.fabric_load import FabricLoad
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.trace_json import trace_json
from gpufabric.report.write_files import write_text
from gpufabric.units import counted, format_message_bytes


@dataclass(frozen=True, slots=True)
class CollectiveFiles:
    """Where to write what; None: not wanted. The points of ``log`` go into the plot."""

    plot: str | None = None
    log: str | None = None
    trace: str | None = None
    drawing: str | None = None


def write_collective_files(
    spec: ClusterSpec,
    results: Sequence[CollectiveResult],
    options: CollectiveOptions,
    files: CollectiveFiles,
    racked: RackedCluster,
) -> list[str]:
    """Write the files that are wanted and return their names; trace and drawing are of the largest size, in the order asked for.

    *racked* is the cluster that *spec* describes.

    Raises
    ------
    InputError
        If a log does not fit, or a file can't be written.
    """
    written = []
    if files.plot is not None:
        points = measured_points(files.log, results[0]) if files.log is not None else ()
        written.append(_write(files.plot, plot_collective(results, points)))
    if files.trace is None and files.drawing is None:
        return written
    asked = [r for r in results if r.rank_order == results[0].rank_order]
    detail = detail_collective(spec, max(asked, key=lambda r: r.size_bytes), options, racked)
    if files.trace is not None:
        written.append(_write(files.trace, trace_json(collective_timeline(detail))))
    if files.drawing is not None:
        written.append(_write(files.drawing, _drawing(detail)))
    return written


def _drawing(detail: CollectiveDetail) -> str:
    result = detail.result
    about = (
        f"{result.op} {format_message_bytes(result.size_bytes)} over {counted(result.gpus, 'GPU')}, "
        f"{result.algorithm}, ranks in {result.rank_order} order, {result.method}"
    )
    return draw_logical_fabric(detail.wiring.cluster, detail.fabric, FabricLoad(detail.links_in_use(), about))


def _write(name: str, text: str) -> str:
    write_text(Path(name), text)
    return name
