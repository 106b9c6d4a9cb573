"""Records → findings, one rule a file; the verb is ``check``.

Every rule has a page in docs/rules. A fabric without faults has no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding
from gpufabric.records.floor_plan import FloorPlan
from gpufabric.records.part_set import PartSet
from gpufabric.rules import (
    airflow_side,
    bisection_as_asked,
    cable_known_and_reaches,
    cable_long_enough,
    cage_power,
    equal_groups,
    hdr_ndr_optical,
    module_fits_cage,
    nic_on_its_rail,
    port_used_once,
    rack_height,
    rack_power,
    radix_within_part,
    rate_fits_cage,
    single_point_of_failure,
    spare_ports,
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
        radix_within_part,
        bisection_as_asked,
        spare_ports,
        single_point_of_failure,
        module_fits_cage,
        cage_power,
        hdr_ndr_optical,
    )
}
FLOOR_RULES: Mapping[str, Callable[[Cluster, PartSet, ClusterSpec, FloorPlan], list[Finding]]] = {
    module.RULE: module.check for module in (rack_power, rack_height, airflow_side, cable_long_enough)
}
