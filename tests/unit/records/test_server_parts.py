"""Links of each pair of GPUs of a server: what fits together."""

import pytest
from pydantic import ValidationError

from gpufabric.records.parts import ScaleUp

LINE = {"kind": "mesh", "gpu_bytes_per_s": "50 GB/s", "link_bytes_per_s": "25 GB/s"}
PAIRS = ((0, 1, 0), (1, 0, 1), (0, 1, 0))


def test_links_of_pairs_stand_instead_of_one_rate():
    assert ScaleUp(**LINE, pair_links=PAIRS).pair_links == PAIRS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pair_links": ()}, "go together"),
        ({"link_bytes_per_s": None}, "go together"),
        ({"kind": "switched"}, "are for a mesh"),
        ({"pair_bytes_per_s": "25 GB/s"}, "instead of pair_bytes_per_s"),
        ({"pair_links": ((0, 1, 0), (1, 0, 1))}, "not square"),
        ({"pair_links": ((0, 1, 0), (1, 0, 1), (1, 1, 0))}, "the same in both directions"),
        ({"pair_links": ((1, 1, 0), (1, 0, 1), (0, 1, 0))}, "0 for a GPU and itself"),
        ({"gpu_bytes_per_s": "75 GB/s"}, "is 50 GB/s for one GPU, and gpu_bytes_per_s 75 GB/s"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        ScaleUp(**{**LINE, "pair_links": PAIRS, **changes})
