"""Options that say which collective, how large, and by which way."""

from __future__ import annotations

from typing import Annotated

import typer

Operation = Annotated[
    str,
    typer.Argument(
        metavar="OP",
        help="Operation: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, all_to_all_v, "
        "gather, scatter or send_recv, also as nccl-tests spells it.",
    ),
]
Size = Annotated[str | None, typer.Option("--size", help="Message size as nccl-tests has it, such as 8G.")]
Sizes = Annotated[str | None, typer.Option("--sizes", help="Sizes doubling from A to B, written 1M..8G.")]
Routing = Annotated[
    str | None,
    typer.Option(
        "--routing",
        help="adaptive, ecmp, static, shortest, opensm:ENGINE or opensm:FILE; default: the fabric's own.",
    ),
]
Simulator = Annotated[
    str,
    typer.Option("--simulator", help="fluid or alpha_beta; for channels of equal size both say the same."),
]
Fabric = Annotated[str | None, typer.Option("--fabric", help="Fabric that carries it; default: the first.")]
Matrix = Annotated[
    str | None,
    typer.Option(
        "--matrix", metavar="FILE", help="all_to_all_v: CSV of what each rank (row) sends to each other."
    ),
]
Skew = Annotated[
    float | None,
    typer.Option("--skew", help="all_to_all_v without a table: 0 even, 1 as popular experts have it."),
]
