"""The inside of a found server → the servers of the catalogue that fit it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gpufabric.records.parts import GpuPart, ServerPart
from gpufabric.records.server_inside import ServerInside


def servers_that_fit(
    inside: ServerInside, servers: Iterable[ServerPart], gpus: Mapping[str, GpuPart], gpu_name: str = ""
) -> tuple[ServerPart, ...]:
    """Return the servers with as many GPUs, links and NICs near them as were found, best first.

    Parameters
    ----------
    inside
        What a file says of the server.
    servers, gpus
        Of the catalogue.
    gpu_name
        What a tool calls the GPU, such as ``NVIDIA H200``; empty when not known.

    Returns
    -------
    tuple of ServerPart
        Those that nothing in the file contradicts; what the file does not say contradicts nothing. Those with equally many NICs
        in all come first.
    """
    near = sorted(len(inside.near_nics(gpu)) for gpu in range(len(inside.gpus)))
    fitting = []
    for server in servers:
        gpu = gpus.get(server.gpu)
        if gpu is None or len(server.gpus) != len(inside.gpus) or not links_fit(inside, server, gpu):
            continue
        if any(near) and sorted(_near(server)) != near:
            continue
        if (gpu_name and not _named(gpu, gpu_name)) or inside.maker not in {"", gpu.vendor}:
            continue
        fitting.append((abs(len(server.nics) - len(inside.nics)), server.id, server))
    return tuple(server for _, _, server in sorted(fitting, key=lambda item: item[:2]))


def links_fit(inside: ServerInside, server: ServerPart, gpu: GpuPart) -> bool:
    """Say whether the links that were found on the best GPU are as many as those of the part; unknown ones contradict nothing."""
    known = [count for count in inside.links if count >= 0]
    if not known:
        return True
    if server.scale_up.kind == "pcie":
        return max(known) == 0
    # One GPU may have lost links; the best one tells what it should be.
    return gpu.scale_up_links is None or max(known) == gpu.scale_up_links


def _near(server: ServerPart) -> list[int]:
    on_bridge = Counter(nic.pcie for nic in server.nics if nic.pcie)
    by_gpu = Counter(nic.gpu for nic in server.nics if nic.gpu is not None)
    return [max(on_bridge[gpu.pcie], by_gpu[gpu.index]) for gpu in server.gpus]


def _named(gpu: GpuPart, name: str) -> bool:
    """Say whether a tool's name of a GPU is this one: its model's first word is in it."""
    words = name.upper().replace("-", " ").split()
    return gpu.model.upper().replace("-", " ").split()[0] in words
