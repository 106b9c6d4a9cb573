"""``gpufabric collective SPEC OP``: time and bandwidth of a collective on the cluster's real wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpufabric.cli.collective_options import (
    Fabric,
    Matrix,
    Operation,
    Routing,
    Simulator,
    Size,
    Sizes,
    Skew,
)
from gpufabric.cli.library_options import Algorithm, LibraryVersion, Protocol, Settings
from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working
from gpufabric.cli.rank_options import Faults, Order, Placement, Ranks, Seed

if TYPE_CHECKING:
    from gpufabric.records.results import CollectiveResult

app = command_app()


@app.command()
def collective(
    spec: Spec,
    op: Operation,
    size: Size = None,
    sizes: Sizes = None,
    order: Order = None,
    placement: Placement = None,
    seed: Seed = None,
    gpus: Ranks = None,
    fault: Faults = None,
    routing: Routing = None,
    simulator: Simulator = "fluid",
    fabric: Fabric = None,
    algorithm: Algorithm = None,
    protocol: Protocol = None,
    library: LibraryVersion = "",
    settings: Settings = None,
    matrix: Matrix = None,
    skew: Skew = None,
    calibration: CalibrationFile = None,
    as_json: Json = False,
) -> None:
    """Predict time and bus bandwidth of a collective, its range, ceiling and bottleneck."""
    from gpufabric.formats import pair_table_csv
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.fault_text import with_faults
    from gpufabric.jobs.choose_ranks import choose_ranks
    from gpufabric.jobs.collective import CollectiveOptions
    from gpufabric.jobs.described_collective import predict_described
    from gpufabric.jobs.job_library import read_library
    from gpufabric.jobs.message_sizes import message_sizes
    from gpufabric.libraries.choose import Forced
    from gpufabric.libraries.read_settings import read_assignments

    wanted = message_sizes(size, sizes)
    description = with_faults(resolve_spec(spec), fault or ())
    choice = choose_ranks(description, order, seed, gpus, placement)
    options = CollectiveOptions(
        ranks=choice.ranks,
        order=choice.order,
        seed=choice.seed,
        routing=routing,
        simulator=simulator,
        fabric=fabric,
        compare_shuffled=True,
        placement=choice.placement,
        places=choice.places,
        library=read_library(library, description.library, read_assignments(settings or ())),
        forced=Forced(algorithm, protocol),
        pair_shares=pair_table_csv.read(named_path(matrix)) if matrix is not None else None,
        skew=skew,
        calibration=read_calibration(calibration) if calibration else None,
    )
    with working("wiring and simulating"):
        results = predict_described(description, op, wanted, options)
    _show(results, choice.notes, as_json)


def _show(results: list[CollectiveResult], notes: tuple[str, ...], as_json: bool) -> None:
    from gpufabric.report.collective_table import collective_notes, collective_table

    if as_json:
        print_document("collective", {"results": [result.to_dict() for result in results]})
    else:
        print_table(*collective_table(results))
        note(collective_notes(results))
    for text in notes:
        note(f"note: {text}")
