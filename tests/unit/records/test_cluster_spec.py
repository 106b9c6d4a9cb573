"""Field types of cluster and job descriptions, used from Python."""

import pytest
from pydantic import BaseModel, ValidationError

from gpufabric.records.cluster_spec import ClusterSpec, FabricSpec
from gpufabric.records.job_spec import JobSpec


def models_below(model: type[BaseModel]) -> set[type[BaseModel]]:
    found, todo = set(), [model]
    while todo:
        now = todo.pop()
        found.add(now)
        text = [a for f in now.model_fields.values() for a in flat(f.annotation)]
        todo += [a for a in text if isinstance(a, type) and issubclass(a, BaseModel) and a not in found]
    return found


def flat(annotation):
    args = getattr(annotation, "__args__", ())
    return [annotation, *(x for a in args for x in flat(a))]


@pytest.mark.parametrize("model", [ClusterSpec, JobSpec])
def test_every_key_has_a_description(model):
    silent = [
        f"{m.__name__}.{k}"
        for m in models_below(model)
        for k, f in m.model_fields.items()
        if not f.description
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("value", "ratio"), [("1:1", 1.0), ("2:1", 2.0), ("4:3", 4 / 3), (2, 2.0), (0.5, 0.5), (" 3 : 2 ", 1.5)]
)
def test_ratios(value, ratio):
    assert FabricSpec(topology="fat-tree", oversubscription=value).oversubscription == ratio


@pytest.mark.parametrize(
    "value", ["1:0", "a", "1/2", 0, -1, 101, True, "1:1000", float("nan"), 10**400, None]
)
def test_wrong_ratios(value):
    with pytest.raises(ValidationError):
        FabricSpec(topology="fat-tree", oversubscription=value)


def test_descriptions_do_not_change():
    spec = FabricSpec(topology="fat-tree")
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "other"
