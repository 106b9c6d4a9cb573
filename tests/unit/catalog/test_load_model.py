"""Models of the catalogue."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gpufabric.catalog.load_model import load_model, model_facts, model_ids
from gpufabric.catalog.model_entry import ModelEntry, ModelFile, build_transformer
from gpufabric.errors import InputError
from gpufabric.records.transformer import Attention, StateSpace


@pytest.mark.parametrize("model_id", model_ids())
def test_every_model_builds(model_id: str) -> None:
    model = load_model(model_id)
    entry, source = model_facts(model_id)
    assert model.layers == entry.layers
    assert model.source == source.url
    assert source.read


def test_ids_and_aliases_are_distinct() -> None:
    names = [name for i in model_ids() for name in (i, *model_facts(i)[0].aliases)]
    assert len(names) == len(set(names))
    assert len(model_ids()) >= 60


def test_alias_and_case() -> None:
    assert load_model(" Llama-3.1-70B ") == load_model("llama-3-70b")


def test_unknown_model_says_what_is_near() -> None:
    with pytest.raises(InputError) as refused:
        load_model("llama-3-71b")
    message = str(refused.value)
    assert message.startswith('model "llama-3-71b" is unknown; known: ')
    assert message.endswith('Did you mean "llama-3-70b"?')
    assert "\n" not in message


def test_dense_layers_come_first() -> None:
    runs = load_model("deepseek-v3").runs
    assert [(run.count, run.block.experts is None) for run in runs] == [(3, True), (58, False)]


def test_windows_alternate() -> None:
    runs = load_model("gpt-oss-20b").runs
    assert [run.block.mixer.window for run in runs[:4] if isinstance(run.block.mixer, Attention)] == [
        128,
        0,
        128,
        0,
    ]


def test_hybrid_follows_its_pattern() -> None:
    model = load_model("nemotron-3-nano")
    blocks = [run.block for run in model.runs for _ in range(run.count)]
    assert sum(isinstance(block.mixer, StateSpace) for block in blocks) == 23
    assert sum(isinstance(block.mixer, Attention) for block in blocks) == 6
    assert sum(block.experts is not None for block in blocks) == 23


_ENTRY = {"id": "m", "name": "M", "layers": 4, "hidden": 64, "vocabulary": 100, "heads": 4, "ffn": 128}
_EXPERTS = {"count": 8, "active": 2, "ffn": 32}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kv_heads": 3}, "4 heads can't share 3"),
        ({"heads": 5}, "hidden 64 is no multiple of 5 heads"),
        ({"ffn": None}, "ffn is missing"),
        ({"pattern": "M-*"}, "pattern has 3 letters for 4 layers"),
        ({"pattern": "M-*X"}, "pattern has X"),
        ({"pattern": "M-*-"}, "pattern has M"),
        ({"experts": {**_EXPERTS, "active": 9}}, "a token visits 9 of 8 experts"),
        ({"layers": 10**9}, "less than or equal to 10000"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_contradictions_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ModelEntry.model_validate({**_ENTRY, **change})


def test_every_other_layer_has_experts() -> None:
    entry = ModelEntry.model_validate({**_ENTRY, "experts": {**_EXPERTS, "every_layers": 2}})
    blocks = [run.block.experts is not None for run in build_transformer(entry, "").runs]
    assert blocks == [False, True, False, True]


def test_source_must_exist() -> None:
    with pytest.raises(ValidationError, match=r'names source "x", which is not in \[sources\]'):
        ModelFile.model_validate({"family": "F", "sources": {}, "models": [{**_ENTRY, "source": "x"}]})
