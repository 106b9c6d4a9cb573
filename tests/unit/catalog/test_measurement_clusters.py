"""The shipped measurements and the descriptions of their clusters agree with each other."""

import csv

import pytest

from gpufabric.catalog.load import load_catalog
from gpufabric.catalog.measurements import CLUSTERS, COLLECTIVES
from gpufabric.formats.cluster_yaml import read_cluster_spec
from gpufabric.topologies import resolve_parts
from gpufabric.topologies.build_cluster import build_cluster
from gpufabric.units import from_gigabytes, parse_rate

ROWS = list(csv.DictReader(COLLECTIVES.read_text(encoding="utf-8").splitlines()))
BY_CLUSTER = {name: [row for row in ROWS if row["cluster"] == name] for name in {r["cluster"] for r in ROWS}}


def test_every_row_has_a_source_and_an_id_of_its_own():
    assert len(ROWS) == len({row["id"] for row in ROWS})
    assert [row["id"] for row in ROWS if not row["source"]] == []


def test_each_cluster_has_one_description_and_each_description_a_cluster():
    named = {row["cluster_spec"] for row in ROWS}
    assert named == {f"clusters/{name}.yaml" for name in BY_CLUSTER}
    assert {f"clusters/{path.name}" for path in CLUSTERS.iterdir()} == named


@pytest.mark.parametrize("name", sorted(BY_CLUSTER))
def test_a_description_is_what_the_rows_say(name):
    spec = read_cluster_spec(CLUSTERS / f"{name}.yaml")
    parts = resolve_parts(spec, load_catalog())
    (server,) = parts.servers.values()
    cluster = build_cluster(spec, load_catalog())
    compute = [port for nic in server.nics if nic.purpose == "compute" for port in nic.ports]
    for row in BY_CLUSTER[name]:
        if row["gpus"]:
            assert int(row["gpus"]) <= len(cluster.gpus)
            assert int(row["nodes"]) <= spec.servers[0].count
        if row["scale_up_GBps_per_gpu_dir"]:
            said = from_gigabytes(float(row["scale_up_GBps_per_gpu_dir"]))
            assert server.scale_up.gpu_bytes_per_s == pytest.approx(said, rel=0.04)
        if row["nics_per_node"] and row["nic_Gbps"] and row["nodes"] not in ("", "1"):
            nic = next(iter(parts.nics.values())).port_bytes_per_s
            said = int(row["nics_per_node"]) * parse_rate(f"{row['nic_Gbps']} Gb/s")
            assert len(compute) * nic == pytest.approx(said)


def test_what_is_blank_is_said_to_be_unknown():
    for name, rows in BY_CLUSTER.items():
        notes = " ".join(read_cluster_spec(CLUSTERS / f"{name}.yaml").notes)
        several = [r for r in rows if r["nodes"] not in ("", "1") and r["kind"] == "measured"]
        if any(not (r["nics_per_node"] and r["nic_Gbps"]) for r in several):
            assert "unknown: " in notes.replace("unknown: switches", "")
            assert "widened" in notes
