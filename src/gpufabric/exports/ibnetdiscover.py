"""Cluster → what ``ibnetdiscover`` would print of it, to compare the real output with."""

from __future__ import annotations

from gpufabric.exports.infiniband_subnets import file_name, infiniband_subnets, rate_words, with_system_names
from gpufabric.formats.ibnetdiscover_write import write_ibnetdiscover
from gpufabric.records.export_target import ExportedFile, ExportSource, ExportTarget


def write(source: ExportSource) -> tuple[ExportedFile, ...]:
    """Return ``ibnetdiscover.txt``, one file a subnet.

    Raises
    ------
    InputError
        If a name can't be a node description, or a subnet has more nodes than LIDs.
    """
    files = []
    for word, laid, links in infiniband_subnets(source):
        subnet = with_system_names(source, laid, links).subnet
        text = write_ibnetdiscover(subnet, rate_words(source.cluster, links))
        files.append(ExportedFile.of_text(file_name("ibnetdiscover", word, ".txt"), text))
    return tuple(files)


TARGET = ExportTarget(
    name="ibnetdiscover",
    title="output of ibnetdiscover (infiniband-diags)",
    files="ibnetdiscover.txt, one a subnet (plane or rail)",
    kept="every switch, adapter port and link of a subnet, with port numbers, width and speed",
    lost="cables, parts, GPUs and racks; GUIDs and LIDs are counted, not those of hardware",
    network="infiniband",
    source="ibnetdiscover(8), https://manpages.debian.org/bookworm/infiniband-diags/ibnetdiscover.8.en.html, read 2026-12-01",
    write=write,
)
