"""Bus bandwidths of a DGX-1 with V100 by number of GPUs.

VIA-Research/vTrain, trace/v100/AR_GPU*_1M_1024M_LUT at commit f8dda84 (https://github.com/VIA-Research/vTrain, read 2026-12):
all-reduces of 256 MiB to 1 GiB out of place. 3 and 6 GPUs are in no fit.
"""

import pytest

from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described

SPEC = parse_cluster_spec(
    "servers: {model: dgx-1-v100, count: 1}\n"
    "fabrics: {name: management, topology: single-switch, purpose: out-of-band, switch: sn2201}\n",
    "x.yaml",
)


@pytest.mark.parametrize(
    ("gpus", "gigabytes_per_s"), [(2, 22.55), (3, 45.13), (4, 85.36), (6, 45.64), (8, 134.51)]
)
def test_rings_follow_the_links(gpus, gigabytes_per_s):
    """What fewer GPUs reach of eight: the number of rings decides, whatever share of a link they reach."""
    few, all_of_them = (
        predict_described(SPEC, "all_reduce", [1 << 30], CollectiveOptions(ranks=ranks))[0].busbw_bytes_per_s
        for ranks in (gpus, 8)
    )
    # A ring of four GPUs reached 5 % less of a link than one of eight did.
    assert few / all_of_them == pytest.approx(gigabytes_per_s / 134.51, rel=0.07)
