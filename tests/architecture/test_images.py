"""The picture in the README is what the tool draws today."""

from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.jobs.design import design
from gpufabric.report.logical_fabric_svg import draw_logical_fabric


def test_the_picture_of_the_readme_is_current(root):
    drawn = draw_logical_fabric(
        design(resolve_spec(str(root / "examples" / "superpod-b200-4su.yaml"))).cluster, 0
    )
    shown = (root / "docs" / "images" / "superpod-b200-4su.svg").read_text(encoding="utf-8")
    assert shown == drawn, (
        "write it again: gpufabric design examples/superpod-b200-4su.yaml -o out, fabric-compute.svg"
    )
