"""Classes of traffic of lossless RoCE: which DSCP is which priority, and from where on congestion is marked.

The values are the default of NVIDIA's lossless RoCE mode: Cumulus Linux 5.6, RDMA over Converged Ethernet,
https://docs.nvidia.com/networking-ethernet-software/cumulus-linux-56/Layer-1-and-Switch-Ports/Quality-of-Service/
RDMA-over-Converged-Ethernet-RoCE/ (read 2026-12). Juniper's AI design has the same DSCPs and PFC priority:
https://www.juniper.net/documentation/us/en/software/jvd/jvd-ai-dc-apstra-amd/dcqcn_configuration_for_rdma_traffic_on_nics.html
(read 2026-12).
"""

from __future__ import annotations

ROCE_DSCP, ROCE_PRIORITY = 26, 3
CNP_DSCP, CNP_PRIORITY = 48, 6
PRIORITIES = 8
# The page shows 146.48 KB and 1.43 MB of 2**10 and 2**20 bytes, and marks all packets from the upper one on.
ECN_LEAST_BYTES, ECN_MOST_BYTES, ECN_MOST_PERCENT = 150_000, 1_500_000, 100
ROCE_SHARE_PERCENT = 50
# The traffic class byte of IP holds the DSCP above two bits; those of ECN are set by RoCE itself: 26 is 104, and 106 says ECT(0).
ROCE_TRAFFIC_CLASS = ROCE_DSCP << 2 | 2


def dscp_classes() -> dict[int, int]:
    """Return the class of each of the 64 DSCPs: that of RoCE, that of congestion notifications, and 0 for all others."""
    return {dscp: {ROCE_DSCP: ROCE_PRIORITY, CNP_DSCP: CNP_PRIORITY}.get(dscp, 0) for dscp in range(64)}
