"""Operations of a training run and the compute rate of GPUs → how long it takes: ``gpufabric budget``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gpufabric.catalog.load import Catalog
from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.units import format_flops, parse_count, parse_flops

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4")
GPU_COUNTS = (1, 8, 1_024, 16_384, 200_000)
MAX_GPUS = 1_000_000_000
# Model FLOPs utilisation that large training runs have published, the lowest and the highest: 38 % (Llama 3 405B on 16,384
# H100, BF16; "The Llama 3 Herd of Models", table 4, https://arxiv.org/abs/2407.21783) and 55.2 % (175B parameters on 12,288
# GPUs; "MegaScale", https://arxiv.org/abs/2402.15627).
PUBLISHED_UTILIZATION = (0.38, 0.552)
_SIX_N_D = (
    "6 operations a parameter and token, forward and backward (Kaplan et al. 2020, https://arxiv.org/abs/2001.08361; "
    "Hoffmann et al. 2022, https://arxiv.org/abs/2203.15556); attention over the context is not in it"
)


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """What is asked, as the user wrote it: ``flops``, or ``parameters`` and ``tokens``; ``gpu`` or ``rate``."""

    flops: str | None = None
    parameters: str | None = None
    tokens: str | None = None
    gpu: str | None = None
    rate: str | None = None
    precision: str = "bf16"
    gpus: Sequence[int] = GPU_COUNTS
    utilization: float = 1.0


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """Time on one number of GPUs, seconds.

    ``time_s`` is at the utilisation asked for; ``time_low_s`` and ``time_high_s`` at the highest and lowest that large training
    runs have published.
    """

    gpus: int
    time_s: float
    time_low_s: float
    time_high_s: float


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a number of operations takes: ``flop`` in all, ``flop_per_s`` the dense peak of one GPU."""

    flop: float
    flop_per_s: float
    gpu: str | None
    precision: str | None
    utilization: float
    rows: tuple[BudgetRow, ...]
    method: str
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as plain JSON values."""
        return asdict(self)


def budget(request: BudgetRequest, catalog: Catalog) -> Budget:
    """Return the time that a number of operations takes on some numbers of GPUs.

    Time is flop / (GPUs × peak × utilisation).

    Parameters
    ----------
    request
    catalog
        Where the GPU is looked up.

    Raises
    ------
    InputError, PartError
        If an amount is missing, given twice or not understood, or the GPU has no such precision.
    """
    flop, how = _operations(request)
    peak, named = _peak(request, catalog)
    if not 0 < request.utilization <= 1:
        raise InputError(
            f"utilization: {request.utilization:g} is out of range; allowed is above 0 up to 1; write 0.4 for 40 %"
        )
    for count in request.gpus:
        if not 1 <= count <= MAX_GPUS:
            raise InputError(f"gpus: {count:,} is out of range; allowed is 1 to {MAX_GPUS:,}")
    lowest, highest = PUBLISHED_UTILIZATION
    rows = tuple(
        BudgetRow(n, *(flop / (n * peak * share) for share in (request.utilization, highest, lowest)))
        for n in request.gpus
    )
    return Budget(
        flop=flop,
        flop_per_s=peak,
        gpu=request.gpu,
        precision=request.precision if request.gpu else None,
        utilization=request.utilization,
        rows=rows,
        method="operations / (GPUs × peak × utilisation)",
        assumptions=(
            how,
            named,
            "more GPUs are proportionally faster: what the network costs is not in it, and neither are failures",
            f"range: {highest:.1%} utilisation (MegaScale, https://arxiv.org/abs/2402.15627) to {lowest:.0%} "
            "(Llama 3 405B, https://arxiv.org/abs/2407.21783), the highest and lowest of these publications",
            "a year has 365.25 days",
        ),
    )


def _operations(request: BudgetRequest) -> tuple[float, str]:
    if (request.flops is None) == (request.parameters is None and request.tokens is None):
        raise InputError(
            "budget: the amount of work is given "
            + ("twice" if request.flops else "not at all")
            + "; allowed is --flops 1e24, or --parameters 70B with --tokens 15T; write one of them"
        )
    if request.flops is not None:
        return parse_count(request.flops, "flops"), "the number of operations is as given"
    if request.parameters is None or request.tokens is None:
        missing = "tokens" if request.tokens is None else "parameters"
        raise InputError(
            f"budget: --{missing} is missing; 6·N·D needs both --parameters 70B and --tokens 15T"
        )
    parameters, tokens = (
        parse_count(request.parameters, "parameters"),
        parse_count(request.tokens, "tokens"),
    )
    return 6 * parameters * tokens, _SIX_N_D


def _peak(request: BudgetRequest, catalog: Catalog) -> tuple[float, str]:
    if (request.gpu is None) == (request.rate is None):
        raise InputError(
            "budget: the compute rate is given "
            + ("twice" if request.gpu else "not at all")
            + '; allowed is --gpu ID (gpufabric parts --kind gpu) or --rate "2 PFLOP/s"; write one of them'
        )
    precision = request.precision.strip().lower()
    if precision not in PRECISIONS:
        raise InputError(
            f'precision "{printable(request.precision)}" is unknown; known: {", ".join(PRECISIONS)}.'
            f"{did_you_mean(precision, PRECISIONS)}"
        )
    if request.rate is not None:
        peak = parse_flops(request.rate)
        return peak, f"one GPU does {format_flops(peak)}, as given"
    part = catalog.gpu(request.gpu or "")
    known = {name: getattr(part, f"flops_{name}") for name in PRECISIONS}
    if known[precision] is None:
        has = [name for name in PRECISIONS if known[name] is not None]
        raise InputError(
            f"gpu {part.id}: the catalogue has no {precision} rate of it; it has {', '.join(has) or 'none'}; "
            'choose one with --precision, or give --rate "2 PFLOP/s"'
        )
    peak = float(known[precision])
    return peak, f"one {part.id} does {format_flops(peak)} of dense {precision}, the datasheet's peak"
