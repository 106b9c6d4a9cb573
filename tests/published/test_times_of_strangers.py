"""Published measurements against constants that were fitted without their cluster."""

from __future__ import annotations

import numpy as np
import pytest

from gpufabric.catalog.calibrations import load_collective_calibration
from gpufabric.catalog.measurements import COLLECTIVES
from gpufabric.formats.measured_collectives_csv import read_measured_collectives
from gpufabric.jobs.price_measured import MeasuredJob, price_measured
from gpufabric.libraries.estimate import estimate
from gpufabric.libraries.time_as_measured import time_as_measured


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cluster", "least_bytes", "most_error"),
    [
        ("nt290", 1 << 24, 0.04),
        ("stas_a100", 1 << 24, 0.10),
        ("aws_p5_batch", 1 << 24, 0.08),
        ("oci_h100", 1 << 24, 0.10),
        ("oke_b4_slurm", 1 << 24, 0.08),
        ("aws_p5_batch", 8, 0.30),
        ("simllm_a100_4", 8, 0.25),
    ],
)
def test_a_stranger_is_predicted(cluster, least_bytes, most_error):
    table = read_measured_collectives(COLLECTIVES)
    rows = [r for r in table.rows if r.cluster == cluster and r.size_bytes >= least_bytes]
    calibration = load_collective_calibration(cluster)
    errors = []
    for job in price_measured(rows, COLLECTIVES.parent):
        assert isinstance(job, MeasuredJob)
        for row in job.rows:
            times = [
                estimate(a, p, job.situation, calibration, row.size_bytes).time_s for a, p in job.candidates
            ]
            printed = time_as_measured(min(times), row.tool, row.gpus // row.nodes, calibration)
            errors.append(abs(printed / row.time_s - 1))
    assert float(np.median(errors)) < most_error
