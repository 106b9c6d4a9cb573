"""Train a small model on ranks of a small part of an Ethernet fabric, for real: ``gpufabric lab train``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from typing import Any

from gpufabric.jobs.lab_ip import LabIpOptions, scaled_fabric
from gpufabric.jobs.lab_traffic import SMALL, lab_job
from gpufabric.jobs.ring_on_ways import predict_ring
from gpufabric.lab.scale_down import ScaleLimits
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.records.findings import Finding

_RUN_S = 600.0
_GROUPS = 8
_AVERAGED = 10
_ASSUMPTIONS = (
    "one rank a server on shared processors: the share of communication is that of this machine, and includes waiting for "
    "ranks that compute later",
    "all gradients in one all_reduce after the backward pass: nothing overlaps",
    "the text is made by a seeded grammar, different on every rank",
)


@dataclass(frozen=True, slots=True)
class LabTrainOptions:
    """What to train on, and for how long; ``hash_every`` steps the replicas are compared."""

    fabric: str | None = None
    plane: int = 1
    limits: ScaleLimits = field(default_factory=lambda: SMALL)
    steps: int = 300
    hash_every: int = 50
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LabTrainResult:
    """How the training went; the field names are those of the JSON output.

    ``loss`` has the mean over all ranks of every step, in nats a character. ``exchange_share`` is the part of the step that ranks
    spend in all_reduce, ``exchange_s`` its median time and ``predicted_exchange_s`` what the network alone would take. ``hashes``
    has the steps at which parameters were compared, the start of their SHA-256, and whether all replicas had it.
    """

    cluster: str
    fabric: str
    plane: int
    planes: int
    scale: tuple[str, ...]
    ranks: int
    rank_hosts: tuple[str, ...]
    parameters: int
    gradient_bytes: int
    steps: int
    loss: tuple[float, ...]
    loss_first: float
    loss_last: float
    step_s: float
    exchange_s: float
    exchange_share: float
    predicted_exchange_s: float
    bottleneck: str
    hashes: tuple[dict[str, Any], ...]
    identical: bool
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = _ASSUMPTIONS

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


def lab_train(spec: ClusterSpec, options: LabTrainOptions | None = None) -> LabTrainResult:
    """Train replicas on the servers of a small network, and say whether they stay the same.

    Parameters
    ----------
    spec
    options

    Raises
    ------
    InputError
        If something asked for does not exist, we are not root, or a program is missing, fails or takes too long.
    UnbuildableError
        If the cluster can't be built.
    """
    options = options or LabTrainOptions()
    scaled = scaled_fabric(spec, LabIpOptions(options.fabric, options.plane, options.limits))
    with lab_job(scaled, _GROUPS) as job:
        hosts = tuple(place.host for place in job.places)
        ways = job.ways()
        chances = [predict_ring(scaled, way, 1).busbw_bytes_per_s for way in ways]
        group = max(range(len(ways)), key=chances.__getitem__)
        answers: list[dict[str, Any]] = job.team.ask(
            "train",
            _RUN_S,
            group=group,
            steps=options.steps,
            hash_every=options.hash_every,
            seed=options.seed,
        )
    first = answers[0]
    predicted = predict_ring(scaled, ways[group], int(first["gradient_bytes"]))
    loss = tuple(float(value) for value in first["loss"])
    hashes = compared_hashes(answers)
    exchange, step = (sum(sum(a[name]) for a in answers) for name in ("exchange_s", "step_s"))
    few = max(1, min(_AVERAGED, len(loss) // 2))
    ends = fmean(loss[:few]), fmean(loss[-few:])
    return LabTrainResult(
        cluster=scaled.cluster.name,
        fabric=scaled.fabric,
        plane=scaled.domain,
        planes=scaled.domains,
        scale=scaled.rules,
        ranks=len(hosts),
        rank_hosts=hosts,
        parameters=int(first["parameters"]),
        gradient_bytes=int(first["gradient_bytes"]),
        steps=options.steps,
        loss=loss,
        loss_first=ends[0],
        loss_last=ends[1],
        step_s=median(value for a in answers for value in a["step_s"]),
        exchange_s=median(value for a in answers for value in a["exchange_s"]),
        exchange_share=exchange / step,
        predicted_exchange_s=predicted.time_s,
        bottleneck=predicted.bottleneck,
        hashes=hashes,
        identical=all(one["identical"] for one in hashes),
        findings=tuple(_findings(hashes, ends)),
    )


def compared_hashes(answers: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return for each step at which parameters were hashed whether all ranks had the same."""
    found = []
    for row, (step, digest) in enumerate(answers[0]["hashes"]):
        same = all(answer["hashes"][row] == [step, digest] for answer in answers)
        found.append({"step": step, "sha256": digest, "identical": same})
    return tuple(found)


def _findings(hashes: Sequence[Mapping[str, Any]], ends: tuple[float, float]) -> Iterator[Finding]:
    differing = next((one["step"] for one in hashes if not one["identical"]), None)
    if differing is not None:
        yield Finding(
            "lab-train-replicas-differ",
            "error",
            f"step {differing}",
            "parameters of the replicas are not the same bit for bit",
            fix="look for ranks on other versions of PyTorch, and for errors of memory",
        )
    if not ends[1] < ends[0]:
        yield Finding(
            "lab-train-loss",
            "error",
            "loss",
            "the loss did not fall",
            expected=f"below {ends[0]:.3f}",
            found=f"{ends[1]:.3f}",
            fix="train for more steps",
        )
