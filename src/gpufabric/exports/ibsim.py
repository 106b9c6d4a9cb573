"""Cluster → the network file of ibsim, on which OpenSM and the InfiniBand diagnostics run without hardware."""

from __future__ import annotations

from gpufabric.exports.infiniband_subnets import file_name, infiniband_subnets
from gpufabric.formats import ibsim_netlist
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``ibsim.net``, one file a subnet.

    Raises
    ------
    InputError
        If a name can't stand in such a file, a device has too many ports, or a subnet more nodes than LIDs.
    """
    return tuple(
        ExportedFile.of_text(file_name("ibsim", word, ".net"), ibsim_netlist.write(laid.subnet))
        for word, laid, _ in infiniband_subnets(source)
    )


TARGET = ExportTarget(
    name="ibsim",
    title="ibsim network file (ibsim-utils 0.10)",
    files="ibsim.net, one a subnet (plane or rail)",
    kept="every switch, adapter port and link of a subnet, with the port numbers that switches give",
    lost="rates (ibsim gives every link 4xSDR), cables, parts, GPUs and racks; GUIDs are counted, not those of hardware",
    network="infiniband",
    source="ibsim-utils, README and net-examples, https://github.com/linux-rdma/ibsim, read 2026-11-30",
    write=write,
)
