"""``gpufabric faults SPEC``: an as-built file with mistakes in it, or the files of a job that is slow for a known cause."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app, named_path
from gpufabric.cli.output import note, print_document, print_table
from gpufabric.cli.progress import working

if TYPE_CHECKING:
    from gpufabric.records.cluster_spec import ClusterSpec

app = command_app()
_LOG = "log"
_Inject = Annotated[
    list[str] | None,
    typer.Option(
        "--inject",
        metavar="KIND[:COUNT]",
        help="What to do wrong; may be given often. Default: one at random. COUNT is of cabling only.",
    ),
]
_Seed = Annotated[int, typer.Option("--seed", min=0, help="Which of many: the same seed, the same file.")]
_Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="ibnetdiscover (default), iblinkinfo, lldp (SONiC tables), csv (a cable list), or log (of a job; for causes).",
    ),
]
_Fabric = Annotated[
    str | None, typer.Option("--fabric", help="Fabric to build wrongly; default: the first. Of cabling only.")
]
_Op = Annotated[str, typer.Option("--op", metavar="OP", help="Collective of the log.")]
_Gpus = Annotated[
    int | None,
    typer.Option("--gpus", min=2, help="GPUs of the log's job, whole servers; default: up to eight servers."),
]
_Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        parser=named_path,
        metavar="<path>",
        help="File to write, default standard output; of a log the folder, which must be named.",
    ),
]
_List = Annotated[bool, typer.Option("--list", help="Print all kinds with what they do, and end.")]


@app.command()
def faults(
    spec: Spec,
    inject: _Inject = None,
    seed: _Seed = 0,
    form: _Form = None,
    fabric: _Fabric = None,
    op: _Op = "all_reduce",
    gpus: _Gpus = None,
    output: _Output = None,
    list_kinds: _List = False,
    as_json: Json = False,
) -> None:
    """Write what a cluster that was cabled wrongly, or a job that is slow, would leave: to train people and tools.

    Cabling, as discovery finds it: exchanged-devices, missing-device, shifted-server, duplicate-name, swapped-pair, wrong-port,
    wrong-rate, wrong-cable, missing-link, dark-port, foreign-device, random.

    Causes, as a log of nccl-tests with the predicted rate and NCCL's log, counters or lspci beside it: link-errors, link-paused,
    port-down, lost-rail, slow-link, slow-server, pcie-reduced, socket-transport, gpudirect-off, acs-on, topology-hidden,
    nics-unused, nic-shared, nic-far, ring-changes-rail, adaptive-routing-off, shuffled-ranks, nvlinks-missing, few-channels,
    algorithm-forced, p2p-off, nvls-missing, random-cause.

    What was done goes to stderr, or with --json to stdout, which needs -o.
    """
    from gpufabric.errors import InputError
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.inject_log_faults import RANDOM
    from gpufabric.jobs.log_fault_kinds import LOG_FAULTS

    if list_kinds:
        _print_kinds()
        return
    if as_json and output is None:
        raise InputError(
            "--json: the document and the file can't both go to standard output; name a file with -o"
        )
    asked = tuple(inject or ())
    causes = [kind for kind in asked if kind in LOG_FAULTS or kind == RANDOM]
    if (causes and len(causes) < len(asked)) or (causes and form not in (None, _LOG)):
        raise InputError(
            f"--inject {causes[0]}: shows in a log, mistakes of cabling in {form or 'other'} files; ask for one or the other"
        )
    described = resolve_spec(spec)
    if causes or form == _LOG:
        _write_log(described, asked or (RANDOM,), (seed, op, gpus), output, as_json)
    else:
        _write_cabling(
            described, asked or ("random",), (seed, form or "ibnetdiscover", fabric), output, as_json
        )


def _write_cabling(
    spec: ClusterSpec,
    inject: tuple[str, ...],
    how: tuple[int, str, str | None],
    output: Path | None,
    as_json: bool,
) -> None:
    from gpufabric.jobs.faults import FaultsOptions
    from gpufabric.jobs.faults import faults as run_faults
    from gpufabric.report.write_files import write_text

    with working("building"):
        result = run_faults(spec, FaultsOptions(inject, *how))
    if output is None:
        sys.stdout.write(result.text)
    else:
        write_text(output, result.text)
    if as_json:
        print_document("faults", result.to_dict())
        return
    for mistake in result.mistakes:
        note(f"{mistake.kind}: {mistake.message}")
    for kind in result.hidden:
        note(f"note: a file of {result.form} does not show {kind}")
    if output is not None:
        note(f"wrote {output}")


def _write_log(
    spec: ClusterSpec,
    inject: tuple[str, ...],
    how: tuple[int, str, int | None],
    output: Path | None,
    as_json: bool,
) -> None:
    from gpufabric.errors import InputError
    from gpufabric.jobs.inject_log_faults import LogFaultsOptions, inject_log_faults
    from gpufabric.jobs.known_op import known_op
    from gpufabric.report.write_files import folder_beside

    if output is None:
        raise InputError("-o: a slow job leaves several files; name a folder for them")
    seed, op, gpus = how
    with working("predicting"):
        result = inject_log_faults(spec, LogFaultsOptions(inject, seed, known_op(op), gpus))
    with folder_beside(output) as beside:
        for name, text in result.files:
            (beside / name).write_text(text, encoding="utf-8")
    if as_json:
        print_document("faults", result.to_dict())
        return
    for mistake in result.mistakes:
        note(f"{mistake.kind} at {mistake.where}: {mistake.message} ({mistake.priced})")
    for text in result.remarks:
        note(f"note: {text}")
    for name, _ in result.files:
        note(f"wrote {output / name}")


def _print_kinds() -> None:
    from gpufabric.jobs.inject_mistakes import KINDS
    from gpufabric.jobs.log_fault_kinds import LOG_FAULTS

    rows = [(kind, "cabling", "", "") for kind in KINDS]
    rows += [(kind, "log", fault.words, fault.priced) for kind, fault in LOG_FAULTS.items()]
    print_table(("kind", "shows in", "what", "cost"), rows)
