"""What a version of a communication library may choose from, and what its settings change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gpufabric.records.quantities import Rate

Version = Annotated[str, Field(pattern=r"^\d{1,4}\.\d{1,4}$")]
Need = Literal[
    "one-node",
    "several-nodes",
    "one-rank-per-node",
    "nvlink",
    "multicast",
    "switched",
    "in-network",
    "nvls",
    "nvls-ranks",
    "asked",
    "collnet",
    "pxn",
    "no-pxn",
    "peer-to-peer",
]
"""What must hold before an algorithm or protocol may be used; ``libraries/needs.py`` says how each is looked up."""
Acts = Literal[
    "algorithms",
    "protocols",
    "least-channels",
    "most-channels",
    "queue-pairs",
    "nvls",
    "collnet",
    "collnet-nodes",
    "pxn-off",
    "pxn-level",
    "peer-to-peer-off",
    "domain",
    "nics",
]
"""The part of a prediction that a setting changes."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LibrarySource(_Strict):
    """Where a fact was read: facts name it by ``id``."""

    id: str
    title: str
    url: str
    read: str


class _Fact(_Strict):
    """Something that is so from version ``since`` on, up to and without ``until``."""

    since: Version | None = None
    until: Version | None = None
    sources: tuple[str, ...] = Field(min_length=1)
    note: str = ""


class AlgorithmRule(_Fact):
    """An algorithm of the library's menu. ``spelling`` is how its settings write it, empty where they can't."""

    name: str
    spelling: str = ""
    ops: tuple[str, ...] = Field(min_length=1)
    protocols: tuple[str, ...] = Field(min_length=1)
    needs: tuple[Need, ...] = ()


class ProtocolRule(_Fact):
    """A protocol. ``generations`` are those of GPUs that have it; empty: all."""

    name: str
    spelling: str
    generations: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()


class GpuGeneration(_Fact):
    """GPUs that the library treats alike: patterns of part ids.

    ``nvls_ranks`` is the least number of GPUs of a node for which the library rates NVLS above a ring; ``channel_bytes_per_s``
    the most that it plans for one channel inside a node.
    """

    name: str
    gpus: tuple[str, ...] = Field(min_length=1)
    nvls_ranks: int | None = None
    channel_bytes_per_s: Rate | None = None


class SettingRule(_Fact):
    """An environment variable. ``acts`` None: it is known, and changes nothing here."""

    name: str
    kind: Literal["lists", "count", "names", "text"]
    acts: Acts | None = None
    least: int = 0
    most: int = 2**31 - 1


class ChannelLimit(_Fact):
    """The most channels that a communicator can have."""

    channels: int = Field(ge=1)


class Rating(_Fact):
    """An algorithm that the library rates above another wherever it may use both, so that the other runs only when asked for.

    It holds from ``least_nodes`` nodes of ``least_node_ranks`` ranks on, not for NICs of ``not_nics`` (patterns of part ids;
    their vendors decide otherwise), and no longer where a setting with one of the effects ``lifted_by`` is given.
    """

    algorithm: str
    above: str
    ops: tuple[str, ...] = Field(min_length=1)
    least_nodes: int = Field(ge=1)
    least_node_ranks: int = Field(1, ge=1)
    not_nics: tuple[str, ...] = ()
    lifted_by: tuple[Literal["least-channels", "queue-pairs"], ...] = ()


class Tuning(_Fact):
    """Settings that are known to lift the bandwidth of rings between nodes to ``line_share`` of the line rate.

    ``generations`` and ``nics`` (patterns of part ids) are the hardware that this was seen on.
    """

    settings: dict[str, int]
    generations: tuple[str, ...]
    nics: tuple[str, ...]
    line_share: float = Field(gt=0, le=1)
    least_nodes: int = Field(ge=2)
    least_bytes: int = Field(ge=1)


class LibraryModel(_Strict):
    """A library; with ``version`` set only the facts that hold for it."""

    name: Literal["nccl", "rccl"]
    title: str
    version: str = ""
    first: Version
    last: Version
    gpus: tuple[str, ...] = Field(
        min_length=1, description="patterns of the part ids of GPUs that it runs on"
    )
    domain_since: Version | None = Field(
        None, description="from here on a node is the scale-up domain, even over several servers"
    )
    lists_by_op_since: Version | None = Field(
        None,
        description="from here on lists of algorithms may name operations, and a ring is no longer the way out",
    )
    queue_pairs: int = Field(1, ge=1)
    algorithms: tuple[AlgorithmRule, ...]
    protocols: tuple[ProtocolRule, ...]
    generations: tuple[GpuGeneration, ...]
    settings: tuple[SettingRule, ...]
    channel_limits: tuple[ChannelLimit, ...] = ()
    tunings: tuple[Tuning, ...] = ()
    ratings: tuple[Rating, ...] = ()
    sources: tuple[LibrarySource, ...]

    @model_validator(mode="after")
    def _names_are_known(self) -> LibraryModel:
        known = {source.id for source in self.sources}
        facts = (
            self.algorithms,
            self.protocols,
            self.generations,
            self.settings,
            self.channel_limits,
            self.tunings,
            self.ratings,
        )
        for fact in (fact for facts_of_kind in facts for fact in facts_of_kind):
            lost = set(fact.sources) - known
            if lost:
                raise ValueError(f'source "{min(lost)}" is not listed')
        protocols = {protocol.name for protocol in self.protocols}
        for rule in self.algorithms:
            if not protocols.issuperset(rule.protocols):
                raise ValueError(f"algorithm {rule.name}: one of its protocols is not listed")
        return self


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """The settings of a job, read; what is None or empty was not set.

    Attributes
    ----------
    algorithms, protocols : dict of str to frozenset of str
        Operation → names that are allowed; an operation that is missing may use all.
    least_channels, most_channels : int, optional
    queue_pairs : int
        Of one connection.
    nvls, collnet, pxn, peer_to_peer, domain : bool
        NVLink SHARP, CollNet, PXN for point-to-point operations, GPU-to-GPU access, and NVLink over several servers.
    collnet_nodes : int
        Least number of nodes for CollNet.
    nics : int, optional
        NICs of a node that are named.
    given : dict of str to str
        Every setting as it was written.
    notes : tuple of str
        One sentence for each setting that nothing was done with.
    """

    algorithms: dict[str, frozenset[str]] = field(default_factory=dict)
    protocols: dict[str, frozenset[str]] = field(default_factory=dict)
    least_channels: int | None = None
    most_channels: int | None = None
    queue_pairs: int = 1
    nvls: bool = True
    collnet: bool = False
    collnet_nodes: int = 2
    pxn: bool = True
    peer_to_peer: bool = True
    domain: bool = True
    nics: int | None = None
    given: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
