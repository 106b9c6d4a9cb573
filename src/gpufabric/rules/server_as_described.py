"""The inside of a found server beside the servers of a description → whether it can be one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpufabric.catalog.server_match import links_fit
from gpufabric.records.findings import Finding
from gpufabric.records.parts import GpuPart, ServerPart
from gpufabric.records.server_inside import ServerInside
from gpufabric.units import counted

RULE = "server-not-as-described"


def check(inside: ServerInside, servers: Sequence[ServerPart], gpus: Mapping[str, GpuPart]) -> list[Finding]:
    """Return a finding where a file is of none of the *servers*, by maker, GPUs, and links of a GPU.

    What the file does not say contradicts nothing, and no links at all may be a virtual machine that hides them. Fewer GPUs than
    described may be a container or a virtual machine that was given a part of the server, and is a warning.
    """
    known = [(server, gpus[server.gpu]) for server in servers if server.gpu in gpus]
    right_maker = [pair for pair in known if inside.maker in {"", pair[1].vendor}]
    hidden = max(inside.links, default=-1) < 1
    right_links = [pair for pair in right_maker if hidden or links_fit(inside, *pair)]
    counts = {len(server.gpus) for server, _ in right_links}
    if not known or len(inside.gpus) in counts:
        return []
    is_part = bool(counts) and len(inside.gpus) < max(counts)
    return [
        Finding(
            RULE,
            "warning" if is_part else "error",
            inside.where,
            f"this server has {_found(inside)}; the description has {' or '.join(_described(*pair) for pair in known)}",
            expected=" or ".join(_described(*pair) for pair in known),
            found=_found(inside),
            fix="run it on the host itself, outside of containers and virtual machines"
            if is_part
            else "give a file of a server of this cluster, or correct the description",
        )
    ]


def _found(inside: ServerInside) -> str:
    links = max(inside.links, default=-1)
    maker = f"{inside.maker} " if inside.maker else ""
    return counted(len(inside.gpus), f"{maker}GPU") + (
        f" with {counted(links, 'link')} each" if links > 0 else ""
    )


def _described(server: ServerPart, gpu: GpuPart) -> str:
    links = 0 if server.scale_up.kind == "pcie" else gpu.scale_up_links
    told = f" with {counted(links, 'link')} each" if links is not None else ""
    return f"{len(server.gpus)} {gpu.vendor} {gpu.model}{told} ({server.id})"
