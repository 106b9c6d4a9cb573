"""What kind of link each link of a cluster is: the words of ``links`` in the design document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpufabric.kernels.distinct_values import number_values
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.tiers import joins_fabrics

OTHER = "other"
_MAIN_ROLES = (Role.SERVER, Role.LEAF, Role.SPINE, Role.CORE)


def link_kinds(cluster: Cluster) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """Return a code for each link and the name of each code.

    A link between servers and switches is named by its two roles, lower tier first: ``server_leaf``, ``leaf_spine``,
    ``spine_core``, ``leaf_leaf``, ``server_server``. Links to managers, storage servers and power distribution units, those
    between switches of different fabrics, and those of devices whose role is unknown, are ``other``.

    Returns
    -------
    codes : int8 array, L
    names : tuple of str
    """
    role_a = cluster.devices.role[cluster.link_device_a].astype(np.int16)
    role_b = cluster.devices.role[cluster.link_device_b].astype(np.int16)
    lower, upper = np.minimum(role_a, role_b), np.maximum(role_a, role_b)
    main = np.isin(lower, _MAIN_ROLES) & np.isin(upper, _MAIN_ROLES) & ~joins_fabrics(cluster)
    pair = np.where(main, lower * len(Role.NAMES) + upper, -1)
    values, codes = number_values(pair)
    return codes.astype(np.int8), tuple(_pair_name(int(value)) for value in values)


def _pair_name(pair: int) -> str:
    if pair < 0:
        return OTHER
    lower, upper = divmod(pair, len(Role.NAMES))
    return f"{Role.NAMES[lower]}_{Role.NAMES[upper]}"
