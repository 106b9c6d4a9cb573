"""``gpufabric lab``: designs proved on real programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpufabric.cli.options import Json, Spec, command_app
from gpufabric.cli.output import finish, note, print_document, print_findings, print_table
from gpufabric.cli.progress import working

if TYPE_CHECKING:
    from gpufabric.jobs.lab_ib import LabIbResult

app = command_app()


@app.callback()
def lab() -> None:
    """Prove a design on real programs: routing by OpenSM or FRRouting, traffic by Gloo.

    Each command needs its programs installed, and takes --json.
    """


@app.command()
def ib(
    spec: Spec,
    engine: Annotated[
        str, typer.Option("--engine", help="Routing engine of OpenSM: ftree, updn or minhop.")
    ] = "ftree",
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to route; default: the first InfiniBand one.")
    ] = None,
    plane: Annotated[
        int, typer.Option("--plane", min=1, help="Which of its separate subnets: a plane, or a rail.")
    ] = 1,
    roots: Annotated[
        bool, typer.Option("--roots", help="Tell OpenSM which switches are the roots of the tree.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, max=86400, help="Seconds that OpenSM may take.")
    ] = 300.0,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            "--cut",
            metavar="WHERE",
            help="Pull a switch, or a link as device:port or 'A - B', while OpenSM runs; repeatable.",
        ),
    ] = None,
    cut_random: Annotated[
        int, typer.Option("--cut-random", min=0, max=10_000, help="Pull so many links between switches.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of --cut-random.")] = 0,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Compare what ibnetdiscover sees with the design.")
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for network file, tables, log, maps and discovery."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let real OpenSM route an InfiniBand fabric on ibsim, and say how evenly its tables do it."""
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.lab_ib import LabIbOptions, lab_ib
    from gpufabric.jobs.lab_ib_cuts import Cuts

    cuts = Cuts(tuple(cut or ()), cut_random, seed)
    options = LabIbOptions(engine, fabric, plane, roots, timeout, cuts, check)
    with working("OpenSM is routing"):
        result = lab_ib(resolve_spec(spec), options, output)
    if as_json:
        print_document("lab ib", result.to_dict())
    else:
        _print_ib(result)
    if output:
        note(f"wrote the files of the run to {output}")
    finish(result.findings)


def _print_ib(result: LabIbResult) -> None:
    from gpufabric.report import lab_ib_table as table

    body = result.to_dict()
    print_table(("", ""), table.summary_rows(body))
    print_table(table.SHARE_COLUMNS, table.share_rows(body), "End ports reached over one link")
    print_table(table.SHIFT_COLUMNS, table.shift_rows(body), "Every end port sends to the one n further on")
    if body["tables"]["hot_links"]:
        print_table(table.HOT_COLUMNS, table.hot_rows(body), "Links that most shifts share")
    if result.reroute is not None:
        print_table(table.CUT_COLUMNS, table.cut_rows(body), table.cut_title(body))
        for text in table.cut_notes(body):
            note(text)
    for text in result.assumptions:
        note(text)
    print_findings(result.findings)


@app.command()
def ip(
    spec: Spec,
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to rehearse; default: the first Ethernet one.")
    ] = None,
    plane: Annotated[
        int, typer.Option("--plane", min=1, help="Which of its routing domains: a plane, or a rail.")
    ] = 1,
    leaves: Annotated[int, typer.Option("--leaves", min=1, max=16, help="Leaves kept at most.")] = 4,
    spines: Annotated[
        int, typer.Option("--spines", min=1, max=16, help="Spines kept at most, of each pod.")
    ] = 2,
    servers: Annotated[
        int, typer.Option("--servers", min=1, max=8, help="Servers of one leaf kept at most.")
    ] = 2,
    rate: Annotated[
        str, typer.Option("--rate", help="What the link of a server runs at, such as 200 Mb/s.")
    ] = "200 Mb/s",
    numbered: Annotated[
        bool, typer.Option("--numbered", help="Give links between switches addresses.")
    ] = False,
    bfd: Annotated[bool, typer.Option("--bfd", help="Watch BGP sessions with BFD.")] = False,
    as_json: Json = False,
) -> None:
    """Let real FRRouting route a small part of an Ethernet fabric, and check that it gets over lost links. Needs root."""
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.lab_ip import LabIpOptions, lab_ip
    from gpufabric.lab.scale_down import ScaleLimits
    from gpufabric.report.lab_ip_table import CHECK_COLUMNS, check_rows, summary_rows
    from gpufabric.units import parse_rate

    limits = ScaleLimits(leaves, spines, max(2, 2 * spines), servers, parse_rate(rate))
    with working("FRRouting is routing"):
        result = lab_ip(resolve_spec(spec), LabIpOptions(fabric, plane, limits, numbered, bfd))
    body = result.to_dict()
    if as_json:
        print_document("lab ip", body)
    else:
        print_table(("", ""), summary_rows(body))
        print_table(CHECK_COLUMNS, check_rows(body), "Checks")
        print_findings(result.findings)
    finish(result.findings)


@app.command()
def traffic(
    spec: Spec,
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to rehearse; default: the first Ethernet one.")
    ] = None,
    plane: Annotated[
        int, typer.Option("--plane", min=1, help="Which of its routing domains: a plane, or a rail.")
    ] = 1,
    leaves: Annotated[int, typer.Option("--leaves", min=2, max=8, help="Leaves kept at most.")] = 2,
    spines: Annotated[
        int, typer.Option("--spines", min=1, max=8, help="Spines kept at most, of each pod.")
    ] = 2,
    servers: Annotated[
        int, typer.Option("--servers", min=1, max=8, help="Servers of one leaf kept at most.")
    ] = 4,
    rate: Annotated[
        str, typer.Option("--rate", help="What the link of a server runs at, such as 200 Mb/s.")
    ] = "200 Mb/s",
    sizes: Annotated[
        str, typer.Option("--sizes", help="Sizes with commas between them; the largest is judged.")
    ] = "1M,4M,16M",
    iterations: Annotated[
        int, typer.Option("-n", "--iterations", min=1, max=100, help="Timed calls of each size.")
    ] = 2,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for a log of each situation and a page with all."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run real all_reduces over Gloo on a small part of an Ethernet fabric, beside what is predicted. Needs root and PyTorch.

    Four situations: healthy, hash collisions, oversubscribed 2:1, and a link down.
    """
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.lab_traffic import LabTrafficOptions, lab_traffic
    from gpufabric.lab.scale_down import ScaleLimits
    from gpufabric.report import lab_traffic_table as table
    from gpufabric.report.write_files import write_text
    from gpufabric.units import parse_message_bytes, parse_rate

    limits = ScaleLimits(leaves, spines, max(2, 2 * spines), servers, parse_rate(rate))
    wanted = tuple(sorted({parse_message_bytes(text) for text in sizes.split(",")}))
    with working("ranks are sending"):
        result = lab_traffic(resolve_spec(spec), LabTrafficOptions(fabric, plane, limits, wanted, iterations))
    body = result.to_dict()
    if output:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in table.traffic_files(body, iterations):
            write_text(output / name, text)
    if as_json:
        print_document("lab traffic", body)
    else:
        print_table(("", ""), table.summary_rows(body))
        print_table(table.SITUATION_COLUMNS, table.situation_rows(body), "Situations")
        print_table(table.TRAFFIC_COLUMNS, table.traffic_rows(body), "all_reduce, in place")
        for text in result.assumptions:
            note(text)
        print_findings(result.findings)
    if output:
        note(f"wrote logs and measured-and-predicted.html to {output}")
    finish(result.findings)


@app.command()
def train(
    spec: Spec,
    fabric: Annotated[
        str | None, typer.Option("--fabric", help="Fabric to rehearse; default: the first Ethernet one.")
    ] = None,
    plane: Annotated[
        int, typer.Option("--plane", min=1, help="Which of its routing domains: a plane, or a rail.")
    ] = 1,
    leaves: Annotated[int, typer.Option("--leaves", min=2, max=8, help="Leaves kept at most.")] = 2,
    spines: Annotated[
        int, typer.Option("--spines", min=1, max=8, help="Spines kept at most, of each pod.")
    ] = 2,
    servers: Annotated[
        int, typer.Option("--servers", min=1, max=8, help="Servers of one leaf kept at most.")
    ] = 2,
    rate: Annotated[
        str, typer.Option("--rate", help="What the link of a server runs at, such as 200 Mb/s.")
    ] = "200 Mb/s",
    steps: Annotated[int, typer.Option("--steps", min=2, max=10_000, help="Steps of the optimiser.")] = 300,
    hash_every: Annotated[
        int, typer.Option("--hash-every", min=1, help="After how many steps replicas are compared.")
    ] = 50,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for the curve of the loss (SVG).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a small model for real on a small part of an Ethernet fabric, and compare its replicas. Needs root and PyTorch."""
    from gpufabric.formats.cluster_yaml import resolve_spec
    from gpufabric.jobs.lab_train import LabTrainOptions, lab_train
    from gpufabric.lab.scale_down import ScaleLimits
    from gpufabric.report import loss_curve as curve
    from gpufabric.report.write_files import write_text
    from gpufabric.units import parse_rate

    limits = ScaleLimits(leaves, spines, max(2, 2 * spines), servers, parse_rate(rate))
    with working("replicas are training"):
        result = lab_train(resolve_spec(spec), LabTrainOptions(fabric, plane, limits, steps, hash_every))
    body = result.to_dict()
    if output:
        write_text(output, curve.loss_curve_svg(body))
    if as_json:
        print_document("lab train", body)
    else:
        print_table(("", ""), curve.summary_rows(body))
        print_table(curve.LOSS_COLUMNS, curve.loss_rows(body["loss"]), "Loss")
        print_table(curve.HASH_COLUMNS, curve.hash_rows(body), "Replicas")
        for text in result.assumptions:
            note(text)
        print_findings(result.findings)
    if output:
        note(f"wrote {output}")
    finish(result.findings)
