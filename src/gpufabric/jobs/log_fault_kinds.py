"""Causes that ``gpufabric faults`` puts into logs: what each does to the job, and where it shows.

What the prediction can price is priced by it: settings, lost or slow links, routing, order of the ranks, NVLinks. Where nothing
published says what a cause costs, a share is assumed, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError
from gpufabric.formats import job_outputs_write as outputs
from gpufabric.jobs.faulty_cluster import without_links
from gpufabric.records.cluster import Cluster
from gpufabric.records.parts import ServerPart

_HALF = 0.5
#: A card in eight lanes of sixteen.
_ALL_LANES, _LANES = 16, 8
#: With fewer no two pairs tell a server from its partner.
_LEAST_SERVERS = 4
_GUID = 0xB8599F0300B00001


@dataclass(frozen=True, slots=True)
class HurtJob:
    """The job that something is done to.

    ``host`` is the device of the server that is hurt, ``nic`` the number of its NIC; ``hosts`` are the names of all servers of
    the job, ``leaf`` the leaf and port that the NIC hangs on; numbers are 0 where the job stays inside one server.
    """

    cluster: Cluster
    fabric: int
    server: ServerPart
    gpu_name: str
    hosts: tuple[str, ...]
    host: int
    host_name: str
    nic: int
    nics: int
    nic_bytes_per_s: float
    network: str
    leaf: tuple[str, int] = ("", 0)

    @property
    def layer(self) -> str:
        """How tools call the network."""
        return "InfiniBand" if self.network == "infiniband" else "Ethernet"

    @property
    def gpus(self) -> int:
        """GPUs of a server."""
        return len(self.server.gpus)


@dataclass(slots=True)
class Change:
    """What all causes together do to the job, and what files will show; causes add to it one after the other.

    ``share`` is what is left where no prediction tells; ``scale_up`` what is left of the links inside the servers.
    ``lanes`` and ``redirects`` are what lspci shows of a NIC and its bridge, ``nearest`` the NIC of each GPU, None: as built.
    """

    cluster: Cluster
    excerpt: outputs.NcclExcerpt | None = None
    settings: dict[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    routing: str | None = None
    order: str = "fabric"
    share: float = 1.0
    scale_up: float = 1.0
    lanes: int = _ALL_LANES
    redirects: bool = False
    nearest: list[int | None] | None = None
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogFault:
    """A kind: what it is in words, the causes (docs/causes) that name it, how it is priced, and what it does.

    ``needs`` says what a cluster must have; ``inside``: it shows best in a job of one server.
    """

    words: str
    causes: tuple[str, ...]
    priced: Literal["predicted", "assumed"]
    do: Callable[[HurtJob, Change], None]
    needs: Literal["", "network", "multicast"] = "network"
    inside: bool = False


def _rows(job: HurtJob, cluster: Cluster, nic: int | None) -> NDArray[np.int64]:
    """Return the links of the hurt server in the fabric, those of one of its NICs only where *nic* is given."""
    links, ports = cluster.links, cluster.ports
    ends = [np.where(ports.device[end] == job.host, end, -1) for end in (links.port_a, links.port_b)]
    mine = np.maximum(*ends)
    on = (mine >= 0) & (ports.fabric[mine] == job.fabric) & (ports.cage[mine] != 0)
    if nic is not None:
        own = np.unique(ports.nic[mine[on]])
        on &= ports.nic[mine] == own[nic % len(own)]
    return np.flatnonzero(on)


def _slower(job: HurtJob, change: Change, nic: int | None, share: float) -> None:
    links = change.cluster.links
    rate = links.bytes_per_s.copy()
    rate[_rows(job, change.cluster, nic)] *= share
    change.cluster = replace(change.cluster, links=replace(links, bytes_per_s=rate))


def _lost(job: HurtJob, change: Change, nic: int) -> None:
    kept = np.ones(len(change.cluster.links), np.bool_)
    kept[_rows(job, change.cluster, nic)] = False
    change.cluster = without_links(change.cluster, kept)


def _said(change: Change, **what: object) -> None:
    if change.excerpt is not None:
        change.excerpt = replace(change.excerpt, **what)  # type: ignore[arg-type]


def _link_errors(job: HurtJob, change: Change) -> None:
    _slower(job, change, job.nic, _HALF)
    if job.network == "infiniband":
        change.files["ibqueryerrors.txt"] = outputs.write_ibqueryerrors(_GUID, *job.leaf, 4000, 5)
    else:
        said = (("rx_packets", 123456789), ("rx_symbol_err_phy", 4000), ("link_down_events_phy", 5))
        change.files["ethtool-errors.txt"] = outputs.write_ethtool(job.host_name, said)


def _link_paused(job: HurtJob, change: Change) -> None:
    _slower(job, change, job.nic, _HALF)
    said = (("rx_packets", 123456789), ("tx_prio3_pause", 4400000), ("rx_out_of_buffer", 60000))
    change.files["ethtool-pauses.txt"] = outputs.write_ethtool(job.host_name, said)


def _port_down(job: HurtJob, change: Change) -> None:
    _lost(job, change, job.nic)
    change.files["ibstat.txt"] = outputs.write_ibstat(job.nics, job.nic, job.nic_bytes_per_s, job.layer)


def _lost_rail(job: HurtJob, change: Change) -> None:
    _lost(job, change, job.nic)
    _said(change, nics=job.nics - 1)


def _slow_link(job: HurtJob, change: Change) -> None:
    _slower(job, change, job.nic, _HALF)
    rate = job.nic_bytes_per_s * _HALF
    change.files["ib_write_bw.txt"] = outputs.write_perftest(f"mlx5_{job.nic}", job.layer, rate)


def _pcie(job: HurtJob, change: Change) -> None:
    _slower(job, change, job.nic, _HALF)
    change.lanes = _LANES


def inside_files(job: HurtJob, change: Change) -> dict[str, str]:
    """Return what lspci and ``nvidia-smi topo -m`` print where causes are of the inside of the server."""
    files = {}
    if change.redirects or change.lanes != _ALL_LANES:
        files["lspci.txt"] = outputs.write_lspci(_transfers(job), change.lanes, redirects=change.redirects)
    if change.nearest is not None:
        files["topo.txt"] = outputs.write_topo_matrix(change.nearest, job.nics, "PXB")
    return files


def _near(job: HurtJob, change: Change) -> list[int | None]:
    """Return the NIC of each GPU, to be changed."""
    if change.nearest is None:
        change.nearest = [gpu * job.nics // job.gpus for gpu in range(job.gpus)]
    return change.nearest


def _transfers(job: HurtJob) -> str:
    """Return the PCIe generation that a NIC of this rate needs in sixteen lanes: 16 GT/s carry about 28 GB/s of data."""
    return "32GT/s" if job.nic_bytes_per_s > 28e9 else "16GT/s"


def _sockets(job: HurtJob, change: Change) -> None:
    change.share *= 0.05
    _said(change, network="Socket")


def _gpudirect(job: HurtJob, change: Change) -> None:
    change.share *= 0.35
    _said(change, gdr=False)


def _acs(job: HurtJob, change: Change) -> None:
    change.share *= 0.45
    change.redirects = True


def _hidden(job: HurtJob, change: Change) -> None:
    change.share *= 0.35
    _said(change, virtual=True)


def _half_of_nics(job: HurtJob, change: Change) -> None:
    used = max(1, job.nics // 2)
    _set(change, "NCCL_IB_HCA", ",".join(f"mlx5_{i}" for i in range(used)))
    _said(change, nics=used)


def _shared_nic(job: HurtJob, change: Change) -> None:
    _lost(job, change, job.nic)
    near = _near(job, change)
    near[-1] = near[0]


def _far_nic(job: HurtJob, change: Change) -> None:
    change.share *= 0.5
    _near(job, change)[-2] = None


def _rail_change(job: HurtJob, change: Change) -> None:
    change.routing = "ecmp"
    change.share *= 0.7
    change.shown["NCCL_CROSS_NIC"] = "1"
    _said(change, shift=1)


def _adaptive(job: HurtJob, change: Change) -> None:
    change.routing = "ecmp"
    change.order = "shuffled"
    change.shown["NCCL_IB_ADAPTIVE_ROUTING"] = "0"


def _shuffled(job: HurtJob, change: Change) -> None:
    change.order = "shuffled"
    change.routing = "ecmp"


def _nvlinks(job: HurtJob, change: Change) -> None:
    change.scale_up *= _HALF
    change.files["nvlink.txt"] = outputs.write_nvlink_status(job.gpu_name, job.gpus, 4, job.nic % job.gpus, 2)


def _few_channels(job: HurtJob, change: Change) -> None:
    _set(change, "NCCL_MAX_NCHANNELS", "1")


def _forced(job: HurtJob, change: Change) -> None:
    _set(change, "NCCL_PROTO", "LL")


def _peers_off(job: HurtJob, change: Change) -> None:
    _set(change, "NCCL_P2P_DISABLE", "1")
    _said(change, shared_memory=True)


def _no_nvls(job: HurtJob, change: Change) -> None:
    _set(change, "NCCL_NVLS_ENABLE", "0")
    _said(change, nvls_channels=0)


def _slow_server(job: HurtJob, change: Change) -> None:
    _slower(job, change, None, _HALF)


def _set(change: Change, name: str, value: str) -> None:
    change.settings[name] = value
    change.shown[name] = value


LOG_FAULTS: Mapping[str, LogFault] = {
    "link-errors": LogFault("one link errs: half its rate", ("link-errors",), "predicted", _link_errors),
    "link-paused": LogFault(
        "a receiver pauses one link: half its rate", ("link-paused",), "predicted", _link_paused
    ),
    "port-down": LogFault("one NIC is down", ("port-down", "nics-unused"), "predicted", _port_down),
    "lost-rail": LogFault("one rail is lost to the job", ("nics-unused",), "predicted", _lost_rail),
    "slow-link": LogFault("one link at half its rate", ("slow-link",), "predicted", _slow_link),
    "slow-server": LogFault(
        "all NICs of one server at half their rate", ("slow-place",), "predicted", _slow_server
    ),
    "pcie-reduced": LogFault("one NIC in half its lanes", ("pcie-reduced",), "predicted", _pcie),
    "socket-transport": LogFault("TCP sockets instead of RDMA", ("socket-transport",), "assumed", _sockets),
    "gpudirect-off": LogFault("data staged in host memory", ("gpudirect-off",), "assumed", _gpudirect),
    "acs-on": LogFault("PCIe access control on", ("acs-on",), "assumed", _acs),
    "topology-hidden": LogFault(
        "a virtual machine hides the PCIe tree", ("topology-hidden",), "assumed", _hidden
    ),
    "nics-unused": LogFault(
        "NCCL_IB_HCA names half of the NICs", ("nics-unused",), "predicted", _half_of_nics
    ),
    "nic-shared": LogFault("two GPUs share one NIC", ("nic-shared",), "predicted", _shared_nic),
    "nic-far": LogFault("one GPU reaches its NIC through the CPU", ("nic-far",), "assumed", _far_nic),
    "ring-changes-rail": LogFault(
        "rings change rail, over hashed uplinks", ("ring-changes-rail",), "assumed", _rail_change
    ),
    "adaptive-routing-off": LogFault(
        "hashing instead of adaptive routing, shuffled ranks",
        ("adaptive-routing-off",),
        "predicted",
        _adaptive,
    ),
    "shuffled-ranks": LogFault(
        "shuffled ranks over hashed uplinks",
        ("oversubscription", "ecmp-collisions", "adaptive-routing-off"),
        "predicted",
        _shuffled,
    ),
    "nvlinks-missing": LogFault(
        "one GPU has half of its NVLinks down", ("nvlinks-missing",), "predicted", _nvlinks, "", inside=True
    ),
    "few-channels": LogFault("NCCL_MAX_NCHANNELS=1", ("few-channels",), "predicted", _few_channels, ""),
    "algorithm-forced": LogFault("NCCL_PROTO=LL", ("algorithm-forced",), "predicted", _forced, ""),
    "p2p-off": LogFault("NCCL_P2P_DISABLE=1", ("p2p-off",), "predicted", _peers_off, "", inside=True),
    "nvls-missing": LogFault(
        "NCCL_NVLS_ENABLE=0", ("nvls-missing",), "predicted", _no_nvls, "multicast", inside=True
    ),
}


def require_possible(kind: str, job: HurtJob) -> None:
    """Refuse a cause that this job can't have.

    Raises
    ------
    InputError
        If the job stays inside one server and the cause is of the network, or the servers lack what it is about.
    """
    needs = LOG_FAULTS[kind].needs
    lacking = ""
    if needs == "network" and not job.nics:
        lacking = "several servers on a network"
    elif needs == "multicast" and not job.server.scale_up.multicast:
        lacking = "servers with NVLink SHARP"
    elif kind in {"nvlinks-missing", "p2p-off"} and job.server.scale_up.kind == "pcie":
        lacking = "servers with NVLink"
    elif kind in {"lost-rail", "port-down", "nics-unused", "nic-shared"} and job.nics < 2:
        lacking = "servers with two NICs or more"
    elif kind == "slow-server" and len(job.hosts) < _LEAST_SERVERS:
        lacking = "four servers or more, to run pairs of them"
    elif kind in {"nic-shared", "nic-far"} and job.gpus < 2:
        lacking = "servers with two GPUs or more"
    if lacking:
        raise InputError(f"--inject {kind}: needs {lacking}; the job has none; choose another kind")
