"""A training's losses → rows of a table, bars in text, and an SVG curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from gpufabric.report.lab_ip_table import plane_text
from gpufabric.report.svg_document import HEADING_BOTTOM, MARGIN, svg_document
from gpufabric.report.svg_elements import Rect, SvgElements, number
from gpufabric.units import counted, format_time, percent_text

LOSS_COLUMNS = ("steps", "loss", "")
HASH_COLUMNS = ("step", "SHA-256 of the parameters", "replicas")
_ROWS = 12
_BAR = 40
_WIDTH, _HEIGHT, _LEFT = 900.0, 420.0, 70.0
_LINES = 5


def summary_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and value of how the training went; *result* as its ``to_dict()`` has it."""
    return [
        ("fabric", f"{result['cluster']}: {result['fabric']}{plane_text(result)}"),
        ("ranks", f"{counted(result['ranks'], 'server')}: {', '.join(result['rank_hosts'])}"),
        (
            "model",
            f"{counted(result['parameters'], 'parameter')}, {result['gradient_bytes']:,} bytes of gradients a step",
        ),
        (
            "loss",
            f"{result['loss_first']:.3f} to {result['loss_last']:.3f} in {counted(result['steps'], 'step')}",
        ),
        ("step", f"{format_time(result['step_s'])} (median)"),
        (
            "communication",
            f"{percent_text(result['exchange_share'])} of the step; {format_time(result['exchange_s'])} (median), the network "
            f"alone {format_time(result['predicted_exchange_s'])} ({result['bottleneck']})",
        ),
        ("replicas", "bit-identical" if result["identical"] else "differ"),
    ]


def loss_rows(losses: Sequence[float]) -> list[tuple[str, str, str]]:
    """Return the mean loss of about twelve stretches of the training, with a bar as long as it is high."""
    stretch = max(1, -(-len(losses) // _ROWS))
    found = []
    for first in range(0, len(losses), stretch):
        part = losses[first : first + stretch]
        mean = fmean(part)
        bar = "█" * max(1, round(_BAR * mean / max(losses)))
        found.append((f"{first + 1} to {first + len(part)}", f"{mean:.3f}", bar))
    return found


def hash_rows(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the steps at which replicas were compared."""
    return [
        (str(one["step"]), one["sha256"][:16], "identical" if one["identical"] else "differ")
        for one in result["hashes"]
    ]


def loss_curve_svg(result: Mapping[str, Any]) -> str:
    """Return the loss of every step as an SVG document."""
    losses = result["loss"]
    top = max(losses) * 1.05
    panel = Rect(_LEFT, HEADING_BOTTOM + 14, _WIDTH - _LEFT - MARGIN, _HEIGHT - HEADING_BOTTOM - 70)
    svg = SvgElements()
    svg.rect(panel, "frame", radius=2)
    for line in range(_LINES + 1):
        y = panel.bottom - panel.h * line / _LINES
        svg.path(f"M{number(panel.x)} {number(y)}H{number(panel.right)}", "grid", 1)
        svg.text(panel.x - 8, y + 4, f"{top * line / _LINES:.2f}", "dim end", 12)
    steps = len(losses)
    points = "L".join(
        f"{number(panel.x + panel.w * (step + 1) / steps)} {number(panel.bottom - panel.h * loss / top)}"
        for step, loss in enumerate(losses)
    )
    svg.path(f"M{points}", "curve", 2)
    svg.text(panel.right, panel.bottom + 20, f"step {steps}", "dim end", 12)
    svg.text(panel.x, panel.bottom + 20, "loss in nats a character", "dim", 12)
    about = (
        f"{counted(result['ranks'], 'rank')} on {result['cluster']}, {counted(result['parameters'], 'parameter')}, "
        f"communication {percent_text(result['exchange_share'])} of the step"
    )
    return svg_document("Curve", "Loss of a data-parallel training", about, (_WIDTH, _HEIGHT), svg)
