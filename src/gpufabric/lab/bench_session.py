"""The environment of torchrun or mpirun → a session of torch.distributed, in which one rank of a measurement works."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.lab.bench_worker import (
    ELEMENT_BYTES,
    EXCHANGES,
    IN_PARTS,
    NOT_IN_PLACE,
    Measured,
    Place,
    measure,
)

BACKENDS = ("nccl", "gloo", "mpi")
# What torchrun, Open MPI and programs with the process manager of MPICH (Intel MPI, MVAPICH) set for each rank.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
)
_MOST_RANKS = 1 << 20


@dataclass(frozen=True, slots=True)
class Launched:
    """Which rank this process is, of how many, and which on its machine."""

    rank: int
    ranks: int
    local: int


@dataclass(frozen=True, slots=True)
class Session:
    """A rank in a session: its place, and of each rank the host and what device lines print."""

    place: Place
    hosts: tuple[str, ...]
    devices: tuple[str, ...]
    library: str
    library_version: str


def launched(environment: Mapping[str, str]) -> Launched:
    """Return what a launcher says of this process.

    Raises
    ------
    InputError
        If none has started it, or what it says makes no sense.
    """
    for rank_name, size_name, local_name in _LAUNCHERS:
        if rank_name not in environment or size_name not in environment:
            continue
        texts = [environment[rank_name], environment[size_name], environment.get(local_name, "0")]
        if not all(text.isascii() and text.isdecimal() and len(text) < 8 for text in texts):
            raise InputError(
                f"{rank_name}: no rank of a job ({printable(' of '.join(texts[:2]))}); start it with torchrun or mpirun"
            )
        rank, ranks, local = (int(text) for text in texts)
        if not 0 <= rank < ranks <= _MOST_RANKS or ranks < 2:
            raise InputError(
                f"{size_name}: {ranks} ranks (rank {rank}) can't be; 2 or more are allowed; start more with torchrun or mpirun"
            )
        return Launched(rank, ranks, local)
    raise InputError(
        "bench: no launcher has started it (RANK and WORLD_SIZE are not set); start a process a GPU, such as "
        "torchrun --nproc-per-node 8 -m gpufabric bench all_reduce"
    )


@contextmanager
def session(backend: str | None, one: Launched) -> Iterator[Session]:
    """Meet the other ranks, and part from them at the end of the block.

    Parameters
    ----------
    backend
        One of ``BACKENDS``; None: nccl where there are GPUs, else gloo. On AMD's GPUs nccl is RCCL.
    one

    Raises
    ------
    InputError
        If the backend is unknown or not in this PyTorch, or ranks do not find each other.
    """
    import torch
    import torch.distributed as dist

    backend = _backend(backend)
    device = "cpu"
    if backend == "nccl":
        device = f"cuda:{one.local % torch.cuda.device_count()}"
        torch.cuda.set_device(device)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    try:
        if backend == "mpi":
            dist.init_process_group("mpi")
        else:
            dist.init_process_group(backend, rank=one.rank, world_size=one.ranks)
    except (RuntimeError, ValueError) as error:
        raise InputError(
            f"{backend}: ranks did not find each other ({printable(str(error), 200)}); set MASTER_ADDR to the host of rank 0"
        ) from None
    try:
        said: list[Any] = [None] * one.ranks
        dist.all_gather_object(said, (socket.gethostname(), _device_line(device, one.local)))
        library, version = _library(backend)
        place = Place(one.rank, one.ranks, None, device)
        hosts, devices = zip(*said, strict=True)
        yield Session(place, hosts, devices, library, version)
    finally:
        dist.destroy_process_group()


def _backend(wanted: str | None) -> str:
    import torch
    import torch.distributed as dist

    there = {
        "nccl": dist.is_nccl_available() and torch.cuda.is_available(),
        "gloo": dist.is_gloo_available(),
        "mpi": dist.is_mpi_available(),
    }
    found = [name for name in BACKENDS if there[name]]
    if wanted is None:
        return found[0]
    if wanted not in BACKENDS:
        raise InputError(
            f'--backend "{printable(wanted)}" is unknown; known: {", ".join(BACKENDS)}.{did_you_mean(wanted, BACKENDS)}'
        )
    if wanted not in found:
        why = " with GPUs" if wanted == "nccl" else ""
        raise InputError(
            f"--backend {wanted}: this PyTorch{why} has none; allowed here: {', '.join(found)}; install one that is built with it"
        )
    return wanted


def _device_line(device: str, local: int) -> str:
    import torch

    if device == "cpu":
        return f"{local:>2} [0x00] CPU"
    about = torch.cuda.get_device_properties(device)
    bus = f"{about.pci_domain_id:04x}:{about.pci_bus_id:02x}:{about.pci_device_id:02x}"
    return f"{local:>2} [{bus}] {about.name}"


def _library(backend: str) -> tuple[str, str]:
    import torch

    if backend != "nccl":
        return backend, ""
    name = "rccl" if getattr(torch.version, "hip", None) else "nccl"
    return name, ".".join(str(part) for part in torch.cuda.nccl.version())


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """One half of a row, over all ranks: seconds are the mean of their times, wrong elements are counted together."""

    size_bytes: int
    count: int
    in_place: bool
    time_s: float
    wrong: int | None


def usable_sizes(op: str, sizes: Sequence[int], ranks: int) -> list[int]:
    """Return sizes rounded down to whole elements, of each rank where the size is that of all parts; none twice, none empty."""
    step = ELEMENT_BYTES * (ranks if op in IN_PARTS else 1)
    return [size for size in dict.fromkeys(size // step * step for size in sizes) if size]


def measure_sizes(
    op: str, sizes: Sequence[int], here: Session, warmup: int, iterations: int, check: bool
) -> Iterator[MeasuredSize]:
    """Yield out of place and in place of each size.

    Parameters
    ----------
    op
        One of ``EXCHANGES``.
    sizes
        As :func:`usable_sizes` returns them.
    here
    warmup, iterations, check
        As :func:`gpufabric.lab.bench_worker.measure` has them.
    """
    import torch.distributed as dist

    for size in sizes:
        for in_place in (False, True):
            parts = op in IN_PARTS
            count = size // ELEMENT_BYTES
            checked = check and not (in_place and op in NOT_IN_PLACE)
            own = measure(EXCHANGES[op](count, in_place, here.place), here.place, warmup, iterations, checked)
            every: list[Any] = [None] * here.place.ranks
            dist.all_gather_object(every, own)
            each: list[Measured] = every
            wrong = sum(one.wrong or 0 for one in each) if checked else None
            time_s = sum(one.time_s for one in each) / len(each)
            yield MeasuredSize(size, count // here.place.ranks if parts else count, in_place, time_s, wrong)
