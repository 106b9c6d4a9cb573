"""For random descriptions: plan, bill, document and drawing count the same wiring, and nothing in the drawing overlaps."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import UnbuildableError
from gpufabric.records.cluster import Cluster
from gpufabric.records.cluster_spec import ClusterSpec
from gpufabric.report.cabling_plan import cabling_table
from gpufabric.report.design_json import design_document
from gpufabric.report.fabric_layout import lay_out
from gpufabric.report.fold_fabric import fold_fabric
from gpufabric.report.logical_fabric_svg import draw_logical_fabric
from gpufabric.report.svg_elements import Rect, text_width
from gpufabric.topologies import TOPOLOGIES, build_cluster

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def specs(draw: Any) -> ClusterSpec:
    fabric: dict[str, Any] = {
        "topology": draw(st.sampled_from(sorted(TOPOLOGIES))),
        "switch": {"ports": draw(st.integers(2, 40)), "rate": "400 Gb/s"},
        "oversubscription": draw(st.sampled_from(["1:1", "2:1", "3:1"])),
        "tiers": draw(st.sampled_from(["auto", 1, 2, 3])),
    }
    for key, values in (("planes", st.integers(1, 8)), ("unit_servers", st.integers(1, 40))):
        if draw(st.booleans()):
            fabric[key] = draw(values)
    if fabric["topology"] in ("torus", "dragonfly"):
        del fabric["oversubscription"], fabric["tiers"]
    if fabric["topology"] == "torus":
        fabric["torus"] = {"dimensions": draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))}
    if draw(st.booleans()):
        fabric["managers"] = {"count": draw(st.integers(1, 3)), "links": draw(st.integers(1, 3))}
    model = {"gpus": draw(st.integers(1, 8)), "nics": draw(st.integers(1, 8)), "nic_rate": "400 Gb/s"}
    return ClusterSpec.model_validate(
        {"servers": {"model": model, "count": draw(st.integers(1, 200))}, "fabrics": fabric}
    )


def built(spec: ClusterSpec) -> Cluster:
    try:
        return build_cluster(spec, load_catalog())
    except UnbuildableError:
        reject()


RANDOM = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@given(specs())
@RANDOM
def test_plan_document_and_drawing_count_the_same_links(spec: ClusterSpec) -> None:
    cluster = built(spec)
    links = len(cluster.links)
    fabric = design_document(cluster, {})["fabrics"][0]
    folded = fold_fabric(cluster, 0)
    assert sum(fabric["links"].values()) == links
    assert cabling_table(cluster).num_rows == links
    assert sum(bundle.links for bundle in folded.bundles) + folded.undrawn_links == links
    assert folded.undrawn_links == 0
    if fabric["bisection_bytes_per_s"] is not None:
        # Sums of rates differ in their last digit.
        most = fabric["injection_bytes_per_s"] / (2 if fabric["tiers"] else 1) * (1 + 1e-9)
        assert 0 <= fabric["bisection_bytes_per_s"] <= most


@given(specs())
@RANDOM
def test_each_end_of_the_plan_is_named_once(spec: ClusterSpec) -> None:
    table = cabling_table(built(spec))
    ends = [
        end
        for side in "ab"
        for end in zip(table[f"{side}_device"].to_pylist(), table[f"{side}_port"].to_pylist(), strict=True)
    ]
    assert len(set(ends)) == len(ends)


@given(specs())
@RANDOM
def test_boxes_and_texts_of_the_drawing_stay_apart(spec: ClusterSpec) -> None:
    cluster = built(spec)
    boxes = lay_out(fold_fabric(cluster, 0)).boxes
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert all(box.w > 20 for box in boxes)
    places = []
    for element in ET.fromstring(draw_logical_fabric(cluster)).iter(f"{SVG}text"):
        size, style = float(element.get("font-size", "0")), element.get("class", "")
        width = text_width(element.text or "", size, "strong" in style)
        left = float(element.get("x", "0")) - (width / 2 if "middle" in style else 0)
        places.append(Rect(left, float(element.get("y", "0")) - 0.8 * size, width, size))
        assert left >= 0
        assert left + width <= 1280
        assert not re.search("[\x00-\x1f]", element.text or "")
    assert not [pair for pair in combinations(places, 2) if pair[0].overlaps(pair[1])]
