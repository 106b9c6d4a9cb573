"""A design and kinds of mistakes → the cluster as somebody would have built it, and what was done wrong.

Each mistake is made on links that no other one touches, so that all of them can be told apart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpufabric.errors import InputError, did_you_mean, printable
from gpufabric.jobs.built_wiring import BuiltWiring
from gpufabric.records.cluster import Cluster, Role
from gpufabric.records.part_set import PartSet
from gpufabric.units import counted

MOST_MISTAKES = 10_000
_ASKED = re.compile(r"([a-z-]{1,40})(?::(\d{1,6}))?")
_TRIES = 64
_LEAST_SHIFTED = 3
_SLOWER = (0.5, 0.25)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: its kind as rule ``built-<kind>``, what was done, the designed links that it touched, re-plugs to mend it.

    ``devices`` are names, where it is about whole devices.
    """

    kind: str
    message: str
    links: tuple[int, ...]
    moves: int
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InjectedCluster:
    """The cluster as built, with names of its own, the part of each cable (empty where unknown), and the mistakes in it.

    ``dark`` are ports that are down, ``called`` what devices call themselves that bear the name of another one.
    """

    cluster: Cluster
    cables: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    dark: tuple[int, ...] = ()
    called: tuple[tuple[int, str], ...] = ()

    def as_called(self) -> Cluster:
        """Return the cluster with the names that its devices call themselves."""
        names = list(self.cluster.devices.names or ())
        for device, name in self.called:
            names[device] = name
        return replace(self.cluster, devices=replace(self.cluster.devices, names=tuple(names)))


def inject_mistakes(
    design: Cluster,
    parts: PartSet,
    rows: NDArray[np.int64],
    asked: Sequence[str],
    seed: int,
    hidden: Collection[str] = (),
) -> InjectedCluster:
    """Make mistakes in a design.

    Parameters
    ----------
    design
    parts
    rows
        Links among which to choose.
    asked
        ``kind`` or ``kind:count``, where ``random`` stands for any kind.
    seed
    hidden
        Kinds that chance does not choose, because they would not show.

    Raises
    ------
    InputError
        If a kind is unknown, or there is no place for so many; where chance has no place left it makes fewer.
    """
    wiring = BuiltWiring(design, parts, rows)
    chance = random.Random(seed)  # noqa: S311 - which cable is wrong is no secret
    wanted = [kind for text in asked for kind in _kinds(text)]
    if len(wanted) > MOST_MISTAKES:
        raise InputError(f"--inject: {len(wanted):,} mistakes are too many; allowed are {MOST_MISTAKES:,}")
    mistakes: list[Mistake] = []
    # Mistakes of whole devices need devices that are untouched: they come first.
    for kind, drawn in sorted(_drawn(wanted, chance, hidden), key=lambda pair: list(KINDS).index(pair[0])):
        made = _make(wiring, chance, kind)
        if made is None and drawn:
            made = next(
                filter(None, (_make(wiring, chance, other) for other in _SMALL if other not in hidden)), None
            )
        if made is not None:
            mistakes.append(made)
        elif not drawn:
            raise InputError(
                f"--inject {kind}: after {counted(len(mistakes), 'mistake')} there is no place left for one more; "
                "ask for fewer, or take a larger cluster"
            )
    return InjectedCluster(
        wiring.cluster(),
        tuple(wiring.cables()),
        tuple(mistakes),
        tuple(wiring.dark),
        tuple(wiring.called.items()),
    )


def _drawn(wanted: Sequence[str], chance: random.Random, hidden: Collection[str]) -> list[tuple[str, bool]]:
    """Return kinds, and whether chance chose them: of those that touch whole devices it chooses each once at most."""
    found, large = [], set(_WHOLE_DEVICES)
    for kind in wanted:
        drawn = kind
        while drawn == "random" or (kind == "random" and drawn in _WHOLE_DEVICES and drawn not in large):
            drawn = chance.choice([one for one in KINDS if one not in hidden])
        large.discard(drawn)
        found.append((drawn, kind == "random"))
    return found


def _kinds(text: str) -> list[str]:
    found = _ASKED.fullmatch(text.strip())
    known = [*KINDS, "random"]
    if found is None or found[1] not in known:
        name = found[1] if found else text
        raise InputError(
            f'--inject: "{printable(text)}" is not a kind of mistake; write KIND or KIND:COUNT with one of {", ".join(known)}.'
            f"{did_you_mean(name[:40], known)}"
        )
    return [found[1]] * min(int(found[2] or 1), MOST_MISTAKES + 1)


def _make(wiring: BuiltWiring, chance: random.Random, kind: str) -> Mistake | None:
    for _ in range(_TRIES):
        made = KINDS[kind](wiring, chance)
        if made is not None:
            wiring.touched.update(made.links)
            return replace(made, kind=kind)
    return None


def _swapped_pair(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    one, other = wiring.free_link(chance), wiring.free_link(chance)
    if one is None or other is None or one == other or not wiring.alike(one, other):
        return None
    wiring.port_b[[one, other]] = wiring.port_b[[other, one]]
    ends = f"{wiring.label(int(wiring.port_a[one]))} and {wiring.label(int(wiring.port_a[other]))}"
    return Mistake("", f"the cables of {ends} are swapped", (one, other), 2)


def _wrong_port(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    if link is None:
        return None
    switch = wiring.device_b(link)
    port = wiring.free_port(switch, chance, float(wiring.rate[link]))
    port = wiring.vacated_port(wiring.role(switch), chance) if port is None else port
    if port is None:
        return None
    kept, wanted = wiring.label(int(wiring.port_a[link])), wiring.label(int(wiring.port_b[link]))
    wiring.port_b[link] = port
    return Mistake("", f"the cable of {kept} is in {wiring.label(port)} instead of {wanted}", (link,), 1)


def _missing_link(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    if link is None:
        return None
    wiring.kept[link] = False
    return Mistake("", f"there is no link {wiring.ends(link)}", (link,), 0)


def _dark_port(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    if link is None:
        return None
    wiring.kept[link] = False
    wiring.dark += [int(wiring.port_a[link]), int(wiring.port_b[link])]
    return Mistake("", f"there is no light {wiring.ends(link)}", (link,), 0)


def _duplicate_name(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    role = chance.choice((Role.LEAF, Role.SPINE))
    one, other = wiring.free_device(chance, role), wiring.free_device(chance, role)
    if one is None or other is None or one == other or {one, other} & wiring.alike_named:
        return None
    wiring.called[one] = wiring.names[other]
    wiring.alike_named |= {one, other}
    names = wiring.names[one], wiring.names[other]
    return Mistake("", f"{names[0]} calls itself {names[1]}", (), 0, names)


def _wrong_rate(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    if link is None:
        return None
    share = chance.choice(_SLOWER)
    wiring.rate[link] *= share
    return Mistake("", f"the link {wiring.ends(link)} runs at {share:.0%} of its rate", (link,), 0)


def _wrong_cable(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    part = None if link is None else wiring.other_cable(link, chance)
    if link is None or part is None:
        return None
    planned = wiring.cable[link]
    wiring.cable[link] = part
    return Mistake("", f"the link {wiring.ends(link)} is a {part}, not a {planned}", (link,), 0)


def _shifted_server(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    server = wiring.free_device(chance, Role.SERVER)
    if server is None:
        return None
    links = wiring.links_of(server)
    if len(links) < _LEAST_SHIFTED or len(np.unique(wiring.rate[links])) > 1:
        return None
    wiring.port_b[links] = np.roll(wiring.port_b[links], 1)
    return Mistake(
        "", f"the cables of {wiring.names[server]} are shifted by one", tuple(links.tolist()), len(links)
    )


def _exchanged_devices(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    role = chance.choice((Role.SERVER, Role.LEAF, Role.SPINE, Role.CORE))
    one, other = wiring.free_device(chance, role), wiring.free_device(chance, role)
    if one is None or other is None or one == other or not wiring.exchange(one, other):
        return None
    links = np.union1d(wiring.links_of(one), wiring.links_of(other))
    names = wiring.names[one], wiring.names[other]
    return Mistake("", f"{' and '.join(names)} are exchanged", tuple(links.tolist()), 1, names)


def _missing_device(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    server = wiring.free_device(chance, Role.SERVER)
    if server is None:
        return None
    links = wiring.links_of(server)
    wiring.kept[links] = False
    return Mistake(
        "", f"{wiring.names[server]} is not there", tuple(links.tolist()), 0, (wiring.names[server],)
    )


def _foreign_device(wiring: BuiltWiring, chance: random.Random) -> Mistake | None:
    link = wiring.free_link(chance)
    if link is None:
        return None
    switch, rate = wiring.device_b(link), float(wiring.rate[link])
    port = wiring.free_port(switch, chance, rate)
    if port is None:
        return None
    name = wiring.add_stranger(port, rate, chance)
    return Mistake("", f"{name} is linked with {wiring.label(port)}", (), 0, (name,))


_Maker = Callable[[BuiltWiring, random.Random], Mistake | None]
#: Kinds of mistakes, those of whole devices first.
KINDS: dict[str, _Maker] = {
    "exchanged-devices": _exchanged_devices,
    "missing-device": _missing_device,
    "shifted-server": _shifted_server,
    "duplicate-name": _duplicate_name,
    "missing-link": _missing_link,
    "dark-port": _dark_port,
    "swapped-pair": _swapped_pair,
    "wrong-port": _wrong_port,
    "wrong-rate": _wrong_rate,
    "wrong-cable": _wrong_cable,
    "foreign-device": _foreign_device,
}
_WHOLE_DEVICES = ("exchanged-devices", "missing-device", "shifted-server", "duplicate-name")
_SMALL = ("missing-link", "wrong-rate")
