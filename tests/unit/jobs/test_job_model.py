"""The model of a job: by id, by file, by shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpufabric.catalog.load_model import load_model
from gpufabric.errors import InputError
from gpufabric.jobs.job_model import job_model, shape_model
from gpufabric.records.job_spec import JobSpec, ModelShape
from gpufabric.training.parameters import count_parameters

_SHAPE: dict[str, Any] = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kv_heads": 8,
    "ffn": 14336,
    "vocabulary": 128256,
}


def _job(model: Any) -> JobSpec:
    return JobSpec.model_validate({"model": model, "global_batch": 8, "sequence_length": 4096})


def test_by_id() -> None:
    assert job_model(_job("llama-3-8b")) == load_model("llama-3-8b")


def test_by_shape() -> None:
    model = job_model(_job(_SHAPE))
    assert model.runs == load_model("llama-3-8b").runs
    assert model.name == "model"


def test_by_file(tmp_path: Path) -> None:
    body = {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
    }
    (tmp_path / "config.json").write_text(json.dumps(body), encoding="utf-8")
    model = job_model(_job("config.json"), tmp_path)
    assert model.runs == load_model("llama-3-8b").runs


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"can't be read \(No such file or directory\); name a config\.json"):
        job_model(_job("config.json"), tmp_path)


def test_experts_and_latent_attention() -> None:
    shape = ModelShape.model_validate(
        {
            **_SHAPE,
            "layers": 61,
            "hidden": 7168,
            "heads": 128,
            "kv_heads": None,
            "ffn": 18432,
            "vocabulary": 129280,
            "experts": {
                "count": 256,
                "active": 8,
                "shared": 1,
                "ffn": 2048,
                "first_dense_layers": 3,
                "node_limit": 4,
            },
            "latent_attention": {
                "q_rank": 1536,
                "kv_rank": 512,
                "nope_head_dim": 128,
                "rope_head_dim": 64,
                "value_head_dim": 128,
            },
        }
    )
    # A shape says nothing of the biases of routers, 256 of each of 58.
    total = count_parameters(shape_model(shape)).total
    assert total == count_parameters(load_model("deepseek-v3")).total - 58 * 256


def test_contradiction_is_one_line() -> None:
    with pytest.raises(InputError) as refused:
        job_model(_job({**_SHAPE, "kv_heads": 7}))
    assert str(refused.value) == (
        "model: 32 heads can't share 7 key and value heads; heads must be a multiple; correct the shape"
    )
