"""What the loss of one thing costs: the rows of the N−1 table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

COLLECTIVES = ("all_reduce_left", "all_to_all_left")
Lost = Literal["cable", "optic", "nic", "leaf", "spine", "core", "plane", "rail"]


@dataclass(frozen=True, slots=True)
class LossCost:
    """What the loss of one member of a class costs.

    Attributes
    ----------
    example : str
        Name of one such member.
    count : int
        Members that cost the same, because they are wired alike.
    metrics : mapping
        ``gpus_cut_off`` GPUs of servers without any usable link; ``gpus_degraded`` GPUs of servers that keep a part of their
        links; ``least_share_left`` the smallest such part (None when no server is degraded); ``injection_left`` and
        ``bisection_left`` as shares of what the whole fabric has (None where bisection is not known); ``all_reduce_left`` and
        ``all_to_all_left`` as shares of the bus bandwidth of 8G over all GPUs by what the library runs (0 where it can't run any
        more, None where it is not known).
    """

    example: str
    count: int
    metrics: Mapping[str, float | int | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as plain JSON values."""
        return {"example": self.example, "count": self.count, **self.metrics}


@dataclass(frozen=True, slots=True)
class LossRow:
    """The loss of one thing of a kind: the cost that most of them have, and the greatest.

    ``place`` is the kind of link of a cable and the role of the device that an optic sits in. ``classes_tried`` is below
    ``classes`` where a fabric is so irregular that only its largest classes were tried.
    """

    fabric: str
    lost: Lost
    place: str
    count: int
    classes: int
    classes_tried: int
    typical: LossCost
    worst: LossCost

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {
            "fabric": self.fabric,
            "lost": self.lost,
            "place": self.place,
            "count": self.count,
            "classes": self.classes,
            "classes_tried": self.classes_tried,
            "typical": self.typical.to_dict(),
            "worst": self.worst.to_dict(),
        }
