"""A server of the catalogue → the bus bandwidth to expect of one and of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpufabric.errors import GpufabricError
from gpufabric.jobs.collective import CollectiveOptions
from gpufabric.jobs.described_collective import predict_described
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.parts import NicPart, ServerPart
from gpufabric.units import format_gbps

_SIZE_BYTES = 8 << 30
_PORTS = 4096


@dataclass(frozen=True, slots=True)
class ExpectedBusbw:
    """What an all_reduce of 8 GiB should show: the 80 % range of its bus bandwidth, bytes/s."""

    what: str
    busbw_bytes_per_s: float
    low_bytes_per_s: float
    high_bytes_per_s: float


def expect_of_server(server: ServerPart, nics: Mapping[str, NicPart]) -> tuple[ExpectedBusbw, ...]:
    """Return what one server, and two on one switch, are predicted to show; nothing of what can't be predicted.

    Parameters
    ----------
    server
    nics
        Parts of NICs by id.
    """
    gpus = len(server.gpus)
    nic = next((nics[n.part] for n in server.nics if n.purpose == "compute" and n.part in nics), None)
    found = []
    for count in (1, 2):
        if gpus * count < 2 or nic is None or (count > 1 and server.scale_up.domain_servers > 1):
            continue
        rate = format_gbps(nic.port_bytes_per_s)
        switch = {"ports": _PORTS, "rate": rate, "network": nic.networks[0]}
        try:
            spec = ClusterSpec.model_validate(
                {
                    "servers": {"model": server.id, "count": 2 * server.scale_up.domain_servers},
                    "fabrics": {"topology": "single-switch", "switch": switch},
                }
            )
            options = CollectiveOptions(ranks=gpus * count)
            (result,) = predict_described(spec, "all_reduce", [_SIZE_BYTES], options)
        except (GpufabricError, ValueError):
            continue
        busbw = result.busbw_bytes_per_s
        where = f"one {server.id}" if count == 1 else f"two {server.id} on one switch"
        found.append(
            ExpectedBusbw(
                f"all_reduce of 8G over {where}",
                busbw,
                busbw * result.time_s / result.time_high_s,
                min(busbw * result.time_s / result.time_low_s, result.ceiling_busbw_bytes_per_s),
            )
        )
    return tuple(found)
