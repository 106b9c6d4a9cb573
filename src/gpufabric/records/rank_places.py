"""Where ranks run, as a hostfile, a Slurm node list or a log says: hosts by the names that they have there."""

from __future__ import annotations

from dataclasses import dataclass

MAX_RANKS = 1 << 24
MAX_HOST_RANKS = 4096


@dataclass(frozen=True, slots=True)
class RankPlaces:
    """Hosts in the order of the ranks. E entries; a host may stand in several.

    Attributes
    ----------
    source : str
        What results call the order, such as ``hostfile hosts.txt``.
    host : tuple of str, E
    ranks : tuple of int, E
        Ranks that follow one another on the host; 0: as many as it has GPUs.
    gpu : tuple of int, E
        Number of the GPU within the host that the first of them runs on; -1: the next one that is free.
    gpu_name : str
        The GPUs as a log names them; empty: not said.
    """

    source: str
    host: tuple[str, ...]
    ranks: tuple[int, ...]
    gpu: tuple[int, ...]
    gpu_name: str = ""

    def __len__(self) -> int:
        return len(self.host)
