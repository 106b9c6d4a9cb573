"""Random mistakes in designed fabrics: which are found, and whether the re-plugs that are proposed restore the design.

Run: ``python benchmarks/injected_mistakes.py [SERVERS ...] [--seeds N] [--formats ibnetdiscover,lldp,csv]``.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gpufabric.errors import UnbuildableError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.recognise_fabric import read_fabric
from gpufabric.jobs.built_file import HIDDEN, WRITERS, write_built
from gpufabric.jobs.check_wiring import CheckedWiring, WiringDesign, check_wiring
from gpufabric.jobs.faults import fabric_rows
from gpufabric.jobs.inject_mistakes import InjectedCluster, inject_mistakes
from gpufabric.jobs.load_parts import catalog_for
from gpufabric.jobs.racked_cluster import RackedCluster, racked_cluster
from gpufabric.recognition.order_repairs import count_moves
from gpufabric.records.names import device_names, port_names

TOPOLOGIES = ("rail-optimized", "leaf-spine", "fat-tree")
MOST = 50
SHARE = 0.05


@dataclass
class Tally:
    """Mistakes made, found and named by their kind, by kind; fabrics restored; fabrics with findings that nobody made."""

    made: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    fabrics: int = 0
    restored: int = 0
    extra: int = 0
    more_moves: int = 0


def design_of(servers: int, topology: str) -> RackedCluster:
    """Return a racked cluster of DGX H100."""
    unit = ", unit_servers: 32" if topology == "rail-optimized" and servers > 32 else ""
    text = (
        f"name: fabric\nservers: {{model: dgx-h100, count: {servers}}}\nfabrics:\n"
        f"  - {{name: compute, topology: {topology}, switch: qm9790{unit}}}\n"
    )
    spec = parse_cluster_spec(text, "fabric.yaml")
    return racked_cluster(spec, catalog_for(spec))


def check_built(design: RackedCluster, injected: InjectedCluster, form: str) -> CheckedWiring:
    """Write the file of a built cluster, read it, and compare it with the design."""
    rows = fabric_rows(injected.cluster, 0)
    text = write_built(injected.as_called(), rows, injected.cables, form, injected.dark)
    found = read_fabric(io.BytesIO(text.encode()), f"built.{form}")
    assert found is not None
    return check_wiring(WiringDesign(design.cluster, "description", design.parts, None, {}), [found])


def labelled_links(cluster, parts=None) -> set[frozenset[str]]:
    """Return the links of the first fabric as pairs of ``device:port``."""
    names, ports = device_names(cluster), port_names(cluster, parts=parts)
    device = cluster.ports.device
    rows = fabric_rows(cluster, 0)
    label = [f"{names[d]}:{p}" for d, p in zip(device, ports, strict=True)]
    return {
        frozenset((label[a], label[b]))
        for a, b in zip(cluster.links.port_a[rows], cluster.links.port_b[rows], strict=True)
    }


def mended(injected: InjectedCluster, checked: CheckedWiring) -> set[frozenset[str]]:
    """Return the links after a technician did what the repairs say."""
    peer: dict[str, str] = {}
    for a, b in map(tuple, labelled_links(injected.cluster)):
        peer[a], peer[b] = b, a
    for fault in checked.faults:
        if fault.kind == "exchanged-devices":
            one, other = fault.devices
            turn = {one: other, other: one}

            def renamed(port: str, turn: dict[str, str] = turn) -> str:
                device, _, name = port.rpartition(":")
                return f"{turn.get(device, device)}:{name}"

            peer = {renamed(a): renamed(b) for a, b in peer.items()}
        if fault.kind == "foreign-device":
            for port in [p for p in peer if p.rpartition(":")[0] in fault.devices]:
                del peer[peer.pop(port)]
    held: dict[str, str] = {}
    for step in checked.check.repairs:
        if step.action == "hold":
            assert peer[step.cable] == step.from_port
            del peer[step.from_port]
            held[step.cable] = step.from_port
        if step.action == "move":
            assert step.to_port not in peer, f"{step.to_port} is not free when a cable comes to it"
            if step.cable not in held:
                assert peer[step.cable] == step.from_port
                del peer[step.from_port]
            peer[step.cable], peer[step.to_port] = step.to_port, step.cable
        if step.action == "plug" or step.rule == "built-dark-port":
            assert step.cable not in peer, step
            assert step.to_port not in peer, step
            peer[step.cable], peer[step.to_port] = step.to_port, step.cable
    return {frozenset(pair) for pair in peer.items()}


def judge(design: RackedCluster, injected: InjectedCluster, form: str, tally: Tally) -> None:
    """Check one built fabric and count what came out."""
    checked = check_built(design, injected, form)
    covered = {link for fault in checked.faults for link in fault.links}
    visible = [m for m in injected.mistakes if m.kind not in HIDDEN[form]]
    ok = True
    for mistake in visible:
        tally.made[mistake.kind] += 1
        if mistake.links and mistake.kind != "exchanged-devices":
            found = covered.issuperset(mistake.links)
            named = any(f.kind == mistake.kind and set(mistake.links) & set(f.links) for f in checked.faults)
        else:
            words = [
                word for word in mistake.message.split() if "-" in word or "srv" in word or "leaf" in word
            ]
            named = found = any(f.kind == mistake.kind and words[0] in f.message for f in checked.faults)
        tally.found[mistake.kind] += found
        tally.named[mistake.kind] += named
        ok &= found
    touched = {link for mistake in injected.mistakes for link in mistake.links}
    extra = [f for f in checked.faults if not set(f.links) <= touched]
    target = labelled_links(design.cluster, design.parts)
    gone = {name for m in injected.mistakes if m.kind == "missing-device" for name in m.devices}
    left = {pair for pair in target if not any(port.rpartition(":")[0] in gone for port in pair)}
    after = mended(injected, checked)
    tally.fabrics += 1
    tally.extra += bool(extra)
    tally.restored += after == left
    tally.more_moves += count_moves(checked.check.repairs) > sum(m.moves for m in visible)


def run(servers: int, topology: str, form: str, seeds: int, tally: Tally) -> None:
    """Judge some fabrics of one size, topology and form, and the clean one."""
    try:
        design = design_of(servers, topology)
    except UnbuildableError:
        return  # two tiers end before a thousand servers
    rows = fabric_rows(design.cluster, 0)
    clean = inject_mistakes(design.cluster, design.parts, rows, (), 0)
    assert check_built(design, clean, form).check.findings == (), "a clean fabric has findings"
    for seed in range(seeds):
        most = max(1, min(MOST, int(SHARE * len(rows))))
        count = 1 + int(np.random.default_rng([seed, servers]).integers(most))
        judge(
            design,
            # A name that two devices have makes them one in lists: not a mistake that is hidden, but one that hides others.
            inject_mistakes(
                design.cluster,
                design.parts,
                rows,
                (f"random:{count}",),
                seed,
                HIDDEN[form] & {"duplicate-name"},
            ),
            form,
            tally,
        )


def table(tally: Tally) -> str:
    """Return the shares by kind."""
    lines = [f"{'kind':20}{'made':>8}{'found':>9}{'by name':>9}"]
    for kind, made in sorted(tally.made.items()):
        lines.append(f"{kind:20}{made:8}{tally.found[kind] / made:9.1%}{tally.named[kind] / made:9.1%}")
    lines.append(
        f"{tally.fabrics} fabrics: {tally.restored} restored by the repairs, {tally.more_moves} with more moves than needed, "
        f"{tally.extra} with findings on links where nothing was done"
    )
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", type=int, default=[8, 31, 64, 127, 256, 1016])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--formats", default=",".join(WRITERS))
    options = parser.parse_args()
    tally, start = Tally(), time.perf_counter()
    for servers in options.servers:
        for topology in TOPOLOGIES:
            for form in options.formats.split(","):
                run(servers, topology, form, options.seeds, tally)
    print(table(tally))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
