"""What must hold before an algorithm may be used → whether it does, why not, and which setting would change that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gpufabric.records.job_situation import JobSituation
from gpufabric.records.library_model import AlgorithmRule, GpuGeneration, LibraryModel, LibrarySettings, Need


@dataclass(frozen=True, slots=True)
class Unmet:
    """A need that is not met. ``fix`` are the settings that would lift it, empty where none does."""

    reason: str
    fix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """A job, the library's settings, and the algorithm that is looked at; None for a protocol."""

    situation: JobSituation
    settings: LibrarySettings
    generation: GpuGeneration | None
    op: str
    rule: AlgorithmRule | None = None

    @property
    def named(self) -> bool:
        """Whether the list of algorithms for this operation names this one."""
        return self.rule is not None and self.rule.name in self.settings.algorithms.get(self.op, ())


def generation_of(model: LibraryModel, gpu: str) -> GpuGeneration | None:
    """Return the generation that a GPU belongs to for this library, None when it is of none that is listed."""
    for generation in model.generations:
        if any(fnmatchcase(gpu, pattern) for pattern in generation.gpus):
            return generation
    return None


def check_need(need: Need, asking: Asking) -> Unmet | None:
    """Return what keeps *need* from being met, None when it is."""
    return _NEEDS[need](asking)


def _one_node(asking: Asking) -> Unmet | None:
    return None if asking.situation.nodes == 1 else Unmet("it stays inside one node, and the job has several")


def _several_nodes(asking: Asking) -> Unmet | None:
    return None if asking.situation.nodes > 1 else Unmet("it is between nodes, and the job has one")


def _one_rank_per_node(asking: Asking) -> Unmet | None:
    if asking.situation.node_ranks == 1:
        return None
    return Unmet(f"it needs one rank a node, and a node has {asking.situation.node_ranks}")


def _nvlink(asking: Asking) -> Unmet | None:
    if asking.situation.scale_up in ("switched", "mesh"):
        return None
    return Unmet("it needs direct links between the GPUs of a node, and these share PCIe")


def _switched(asking: Asking) -> Unmet | None:
    what = {"mesh": "direct links", "pcie": "PCIe"}.get(asking.situation.scale_up)
    return (
        None
        if what is None
        else Unmet(f"it needs NVSwitches, and the GPUs of these servers share {what} only")
    )


def _multicast(asking: Asking) -> Unmet | None:
    if asking.situation.scale_up == "switched" and asking.situation.multicast:
        return None
    return _switched(asking) or Unmet(
        "the NVSwitches of these servers do not add and multicast (NVLink SHARP)"
    )


def _in_network(asking: Asking) -> Unmet | None:
    if asking.situation.in_network:
        return None
    return Unmet("the switches of the fabric do not add (in_network_reduction is off)")


def _nvls(asking: Asking) -> Unmet | None:
    return None if asking.settings.nvls else Unmet("NCCL_NVLS_ENABLE is 0", ("NCCL_NVLS_ENABLE=1",))


def _nvls_ranks(asking: Asking) -> Unmet | None:
    least = asking.generation.nvls_ranks if asking.generation else None
    if least is None or asking.situation.node_ranks >= least or asking.named:
        return None
    return Unmet(f"the library rates it below a ring for fewer than {least} GPUs", _by_name(asking))


def _asked(asking: Asking) -> Unmet | None:
    if asking.named:
        return None
    return Unmet("the library rates it below a ring, so it runs only when asked for", _by_name(asking))


def _by_name(asking: Asking) -> tuple[str, ...]:
    return (f"NCCL_ALGO={asking.rule.spelling}",) if asking.rule else ()


def _collnet(asking: Asking) -> Unmet | None:
    settings = asking.settings
    if not settings.collnet:
        return Unmet("CollNet is off by default", ("NCCL_COLLNET_ENABLE=1",))
    if asking.situation.nodes >= settings.collnet_nodes:
        return None
    return Unmet(
        f"NCCL_COLLNET_NODE_THRESHOLD is {settings.collnet_nodes}",
        (f"NCCL_COLLNET_NODE_THRESHOLD={asking.situation.nodes}",),
    )


def _pxn(asking: Asking) -> Unmet | None:
    return (
        None if asking.settings.pxn else Unmet("PXN is off", ("NCCL_PXN_DISABLE=0", "NCCL_P2P_PXN_LEVEL=2"))
    )


def _no_pxn(asking: Asking) -> Unmet | None:
    if asking.situation.nodes == 1 or _nvlink(asking) or _pxn(asking) or _peer_to_peer(asking):
        return None
    return Unmet("PXN is on, which goes over the GPU on the receiver's rail", ("NCCL_P2P_PXN_LEVEL=0",))


def _peer_to_peer(asking: Asking) -> Unmet | None:
    return None if asking.settings.peer_to_peer else Unmet("NCCL_P2P_DISABLE is 1", ("NCCL_P2P_DISABLE=0",))


_NEEDS: dict[Need, Callable[[Asking], Unmet | None]] = {
    "one-node": _one_node,
    "several-nodes": _several_nodes,
    "one-rank-per-node": _one_rank_per_node,
    "nvlink": _nvlink,
    "multicast": _multicast,
    "switched": _switched,
    "in-network": _in_network,
    "nvls": _nvls,
    "nvls-ranks": _nvls_ranks,
    "asked": _asked,
    "collnet": _collnet,
    "pxn": _pxn,
    "no-pxn": _no_pxn,
    "peer-to-peer": _peer_to_peer,
}
