"""The ``model`` of a job description → its layers: from the catalogue, a configuration file, or a shape that was written out."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from gpufabric.catalog.load_model import load_model
from gpufabric.catalog.model_entry import EntryExperts, EntryLatent, ModelEntry, build_transformer
from gpufabric.errors import InputError
from gpufabric.formats.hf_config import read_hf_config
from gpufabric.records.job_spec import JobSpec, ModelShape
from gpufabric.records.transformer import Transformer


def job_model(job: JobSpec, folder: Path | str = ".") -> Transformer:
    """Return the model that a job trains.

    Parameters
    ----------
    job
        Whose ``model`` is the id of a catalogue model, the path of a Hugging Face configuration (``*.json``), or a shape.
    folder
        Where relative paths start: the folder of the job description.

    Raises
    ------
    InputError
        If there is no such model, the file can't be read, or the shape contradicts itself.
    """
    if isinstance(job.model, ModelShape):
        return shape_model(job.model)
    if job.model.lower().endswith(".json"):
        return read_hf_config(Path(folder) / job.model)
    return load_model(job.model)


def shape_model(shape: ModelShape) -> Transformer:
    """Return the model of a shape that a user wrote out.

    Raises
    ------
    InputError
        If the shape contradicts itself.
    """
    try:
        return build_transformer(_entry(shape), "the job description")
    except ValidationError as error:
        found = "; ".join(str(fault["msg"]).removeprefix("Value error, ") for fault in error.errors())
        raise InputError(f"model: {found}; correct the shape") from None


def _entry(shape: ModelShape) -> ModelEntry:
    experts = shape.experts
    latent = shape.latent_attention
    return ModelEntry(
        id="shape",
        name=shape.name,
        layers=shape.layers,
        hidden=shape.hidden,
        vocabulary=shape.vocabulary,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        ffn=shape.ffn,
        gated=shape.gated_ffn,
        tied_embeddings=shape.tied_embeddings,
        latent=EntryLatent(
            q_rank=latent.q_rank or 0,
            kv_rank=latent.kv_rank,
            nope_head_dim=latent.nope_head_dim,
            rope_head_dim=latent.rope_head_dim,
            value_head_dim=latent.value_head_dim,
        )
        if latent
        else None,
        experts=EntryExperts(
            count=experts.count,
            active=experts.active,
            ffn=experts.ffn,
            gated=shape.gated_ffn,
            shared_ffn=experts.shared * experts.ffn if experts.shared_ffn is None else experts.shared_ffn,
            first_dense_layers=experts.first_dense_layers,
            every_layers=experts.every_layers,
            node_limit=experts.node_limit or 0,
        )
        if experts
        else None,
    )
