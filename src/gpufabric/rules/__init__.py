"""Records → findings, one rule a file; the verb is ``check``.

Every rule has a page in docs/rules. A fabric without faults has no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.part_set import PartSet
from gpufabric.rules import (
    cable_known_and_reaches,
    equal_groups,
    nic_on_its_rail,
    port_used_once,
    rate_fits_cage,
    subnet_lids,
)

RULES: Mapping[str, Callable[[Cluster, PartSet, ClusterSpec], list[Finding]]] = {
    module.RULE: module.check
    for module in (
        port_used_once,
        nic_on_its_rail,
        rate_fits_cage,
        equal_groups,
        subnet_lids,
        cable_known_and_reaches,
    )
}
