"""Options that say which ranks take part, in what order, and what is broken on their way."""

from __future__ import annotations

from typing import Annotated

import typer

Order = Annotated[
    str | None,
    typer.Option(
        "--order", help="fabric, shuffled, hostfile:FILE, slurm:LIST or log:FILE; default: the description's."
    ),
]
Placement = Annotated[
    str | None,
    typer.Option(
        "--placement", help="Servers of a part of the cluster: packed or fragmented; default: packed."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of shuffle, placement and hashes; default: 0."),
]
Ranks = Annotated[int | None, typer.Option("--gpus", help="Number of ranks; default: all GPUs.")]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="KIND:WHERE[=RATE]",
        help="What is broken, such as rail-down:rail:3 or link-slow:srv01 - leaf-01=200 Gb/s; repeatable.",
    ),
]
