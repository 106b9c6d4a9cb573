"""Table of published collectives → catalog/calibrations/collectives.toml and collectives_folds.toml.

Run: ``python scripts/fit_collectives.py [COLLECTIVES.csv]``, by default on the table that the package ships; it takes
two minutes (with OMP_NUM_THREADS=1) and prints how far clusters that were left out of the fit lie from it.

Every cluster has one vote in each band of sizes, whatever its number of rows. A cluster that is left out is left out of all
constants; the ranges are those of the errors of clusters that were left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from calibration_document import write_documents
from gpufabric.catalog.measurements import COLLECTIVES
from gpufabric.errors import GpufabricError
from gpufabric.records.calibration import size_band
from held_out_table import Judged, print_table
from measured_rows import read_rows, sources_of
from model_of_time import Constants, Floats, TimeModel, believed_constants

#: Beyond this error of the logarithm a row counts by its distance, not the square of it.
FAR = 0.08
SHARPNESS = 25.0


def fit(model: TimeModel, constants: Constants, votes: Floats, start: Floats, steps: int = 60) -> Floats:
    """Return the logarithms of the constants that fit best; rows without votes do not count."""
    measured = np.log([row.time_s for row in model.rows])
    weight = np.sqrt(votes)

    def misfit(logs: Floats) -> Floats:
        error = (np.log(model.times(logs, SHARPNESS)) - measured) / FAR
        tamed = np.sign(error) * np.sqrt(2 * (np.sqrt(1 + error**2) - 1))
        return np.concatenate([weight * tamed, (logs - constants.centre) / constants.spread])

    shares = np.array(["_share" in name and "several" not in name for name in constants.names])
    upper = np.where(shares, 1e-9, np.inf)
    found = least_squares(
        misfit,
        np.minimum(start, upper - 1e-6),
        bounds=(-np.inf, upper),
        x_scale=constants.spread,
        max_nfev=steps,
        ftol=1e-6,
    )
    return np.asarray(found.x, dtype=np.float64)


def votes_of(model: TimeModel) -> Floats:
    """Return a vote of 1 for each cluster and band, shared by its rows; rows with unknown NICs have none."""
    cell = [(row.cluster, band_of(row.situation.nodes, row.size_bytes)) for row in model.rows]
    counts = Counter(cell)
    use = [row.situation.nodes == 1 or row.known for row in model.rows]
    return np.array([used / counts[key] for used, key in zip(use, cell, strict=True)])


def band_of(nodes: int, size_bytes: int) -> str:
    return f"{'one-node' if nodes < 2 else 'several-nodes'}-{size_band(size_bytes)}"


def main() -> int:
    if len(sys.argv) > 2:
        print("usage: fit_collectives.py [COLLECTIVES.csv]", file=sys.stderr)
        return 2
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else COLLECTIVES
    try:
        rows, left_out = read_rows(path)
    except GpufabricError as reason:
        print(reason, file=sys.stderr)
        return 2
    constants = believed_constants()
    model = TimeModel(rows, constants)
    votes = votes_of(model)
    whole = fit(model, constants, votes, constants.centre)
    cluster = np.array([row.cluster for row in rows])
    folds: dict[str, Floats] = {}
    expected = np.empty(len(rows))
    picks = np.empty(len(rows), dtype=object)
    for name in sorted(set(cluster)):
        out = cluster == name
        voted = bool(votes[out].any())
        folds[name] = fit(model, constants, np.where(out, 0.0, votes), whole, 12) if voted else whole
        expected[out] = model.times(folds[name])[out]
        picks[out] = np.array(model.picks(folds[name]), dtype=object)[out]
        print(f"\r{len(folds)} of {len(set(cluster))}", end="", file=sys.stderr)
    judged = Judged(rows, expected, model.times(whole), picks)
    print_table(judged)
    write_documents(rows, left_out, constants, whole, folds, judged, sources_of(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
