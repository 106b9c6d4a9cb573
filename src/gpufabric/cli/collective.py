"""``gpufabric collective SPEC OP``: time and bandwidth of a collective on the cluster's real wiring."""

from __future__ import annotations

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
from gpufabric.cli.collective_outputs import Drawing, Explain, Log, Plot, Trace, WhatIfs
from gpufabric.cli.library_options import Algorithm, LibraryVersion, Protocol, Settings
from gpufabric.cli.options import CalibrationFile, Json, Spec, command_app, named_path
from gpufabric.cli.rank_options import Faults, Order, Placement, Ranks, Seed

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
    explain: Explain = False,
    what_if: WhatIfs = False,
    plot: Plot = None,
    log: Log = None,
    trace: Trace = None,
    drawing: Drawing = None,
    as_json: Json = False,
) -> None:
    """Predict time and bus bandwidth of a collective, its range, ceiling and bottleneck."""
    from gpufabric.cli.show_collective import Outputs, show_collective
    from gpufabric.formats import pair_table_csv
    from gpufabric.formats.calibration_toml import read_calibration
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.formats.fault_text import with_faults
    from gpufabric.jobs.choose_ranks import choose_ranks
    from gpufabric.jobs.collective import CollectiveOptions
    from gpufabric.jobs.job_library import read_library
    from gpufabric.jobs.message_sizes import message_sizes
    from gpufabric.libraries.choose import Forced
    from gpufabric.libraries.read_settings import read_assignments

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
    outputs = Outputs(explain, what_if, as_json, plot, log, trace, drawing)
    show_collective((description, op, message_sizes(size, sizes), options), choice.notes, outputs)
