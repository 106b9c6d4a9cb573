"""A predicted training run → the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gpufabric.cli.output import note, print_document, print_table
from gpufabric.records.train_result import TrainResult
from gpufabric.report.step_table import (
    breakdown_table,
    gains_table,
    network_table,
    overview_table,
    train_notes,
)


def show_train(result: TrainResult, notes: Sequence[str], explain: bool, as_json: bool) -> None:
    """Print the result as tables or as one JSON document; *notes* are remarks on the description, printed last."""
    if as_json:
        print_document("train", result.to_dict())
    else:
        tables = [overview_table(result), breakdown_table(result)]
        if explain:
            tables += [gains_table(result), network_table(result)]
        for table in tables:
            print_table(*table)
        note(train_notes(result))
    for text in notes:
        note(text)
