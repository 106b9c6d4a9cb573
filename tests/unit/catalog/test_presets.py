"""Presets are ordinary descriptions with notes on where their figures come from."""

import pytest

from gpufabric.catalog.presets import preset_ids, preset_text
from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.formats.yaml_nodes import parse_nodes

SERVERS_OF_UNITS = {
    "superpod-a100": lambda units: 20 * units,
    "superpod-h100": lambda units: 32 * units - 1,
    "superpod-h200": lambda units: 32 * units - 1,
    "superpod-b200": lambda units: 32 * units - 1,
    "superpod-b300-xdr": lambda units: 72 * units,
    "superpod-b300-spectrum": lambda units: 64 * units,
    "superpod-h100-full": lambda units: 32 * units - 1,
    "nvl72-gb200": lambda units: 144 * units,
    "nvl72-gb300": lambda units: 144 * units,
    "rail-only-h100": lambda units: 32 * units,
    "hpn-dual-tor": lambda units: 128 * units,
}
OTHERS = {"leaf-spine-roce", "three-tier-200k", "dragonfly-2k", "basepod-8"}


def test_all_presets_that_the_documentation_names_exist():
    assert set(preset_ids()) == {*SERVERS_OF_UNITS, *OTHERS}


@pytest.mark.parametrize("preset", preset_ids())
def test_each_preset_is_whole(preset):
    spec = resolve_spec(f"preset:{preset}")
    assert spec.name == spec.preset == preset
    assert spec.servers[0].count is not None
    assert spec.fabrics[0].switch is not None


@pytest.mark.parametrize("preset", preset_ids())
def test_each_preset_says_what_was_published(preset):
    notes = " ".join(resolve_spec(preset).notes)
    assert notes.startswith(("Published counts", "No table was published"))
    assert "https://" in notes or not preset.startswith("superpod")


@pytest.mark.parametrize("preset", sorted(SERVERS_OF_UNITS))
@pytest.mark.parametrize("units", [1, 2, 4, 16])
def test_servers_of_units(preset, units, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text(f"preset: {preset}\nunits: {units}\n")
    assert resolve_spec(str(file)).servers[0].count == SERVERS_OF_UNITS[preset](units)


def test_the_large_preset_has_200_000_gpus_in_servers_of_8():
    assert resolve_spec("three-tier-200k").servers[0].count == 200_000 // 8


def test_a_preset_builds_on_no_other():
    assert all(parse_nodes(preset_text(preset), preset).get("preset") is None for preset in preset_ids())


def test_an_unknown_preset_is_refused():
    with pytest.raises(InputError, match=r'preset "superpod-x" is unknown; known: .*'):
        preset_text("superpod-x")
