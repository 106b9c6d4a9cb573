"""Finding parts: ids, aliases, kinds, and what is said when there is none."""

import dataclasses

import pytest

from gpufabric.catalog.load import Catalog, load_catalog
from gpufabric.errors import InputError, PartError
from gpufabric.records.parts import SwitchPart


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_a_part_is_found_by_id_alias_and_part_number_in_any_case(catalog: Catalog) -> None:
    for name in ("qm9790", "QM9790", "MQM9790-NS2F", " mqm9790-ns2f "):
        assert catalog.get(name).id == "qm9790"
    assert catalog.gpu("H100").id == "h100-sxm"
    assert catalog.get("980-9I570-00N030").id == "mfp7e10"


def test_typed_helpers_return_their_kind(catalog: Catalog) -> None:
    assert isinstance(catalog.switch("qm9700"), SwitchPart)
    assert catalog.server("dgx-h100").kind == "server"
    assert catalog.nic("connectx-7").kind == "nic"


def test_the_same_part_is_read_once(catalog: Catalog) -> None:
    assert catalog.get("sn5600") is load_catalog().get("sn5600")


def test_ids_are_sorted_and_of_one_kind(catalog: Catalog) -> None:
    ids = catalog.ids("switch")
    assert list(ids) == sorted(ids)
    assert {part.kind for part in catalog.of_kind("switch")} == {"switch"}
    assert set(ids) < set(catalog.ids())


def test_an_unknown_id_says_what_is_known_and_guesses(catalog: Catalog) -> None:
    with pytest.raises(PartError) as caught:
        catalog.switch("qm979")
    message = str(caught.value)
    assert message.startswith('switch "qm979" is unknown; gpufabric parts --kind switch lists the ')
    assert len(message) < 130
    assert message.endswith('Did you mean "qm9790"?')


def test_an_unknown_id_of_any_kind_is_answered_in_short(catalog: Catalog) -> None:
    with pytest.raises(PartError) as caught:
        catalog.get("dgx-h10")
    known = len(catalog.ids())
    assert str(caught.value) == (
        f'part "dgx-h10" is unknown; gpufabric parts lists the {known} known ones. Did you mean "dgx-h100"?'
    )


def test_an_id_of_another_kind_is_refused(catalog: Catalog) -> None:
    with pytest.raises(PartError, match=r'part "dgx-h100" is a server; a switch is needed; known: '):
        catalog.switch("dgx-h100")


@pytest.mark.parametrize("kind", ["router", "switches", ""])
def test_an_unknown_kind_is_refused(catalog: Catalog, kind: str) -> None:
    with pytest.raises(PartError, match="allowed: gpu, server, nic, switch, cable, transceiver"):
        catalog.ids(kind)


def test_a_hostile_id_is_shown_without_its_escapes(catalog: Catalog) -> None:
    with pytest.raises(PartError) as caught:
        catalog.get("\x1b[31mqm9700\n" * 1000)
    assert str(caught.value).isprintable()


def test_a_catalog_can_not_be_changed(catalog: Catalog) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        catalog.overridden = ("x",)  # type: ignore[misc]
    with pytest.raises(TypeError):
        catalog.kinds["x"] = "gpu"  # type: ignore[index]


def test_part_errors_are_input_errors() -> None:
    assert issubclass(PartError, InputError)
