"""Price lists: what is read, and what is refused in one line with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.catalog.load import load_catalog
from gpufabric.errors import InputError
from gpufabric.formats.price_list import MAX_FILE_BYTES, read_price_list
from gpufabric.records.prices import PriceList

CATALOG = load_catalog()


def resolve(text: str) -> str:
    return CATALOG.get(text).id


def read(folder: Path, data: str | bytes) -> PriceList:
    path = folder / "prices.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_price_list(path, resolve)


def refusal(folder: Path, data: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, data)
    return str(caught.value)


def test_prices_are_read_by_id_alias_and_item(tmp_path: Path) -> None:
    text = '\ufeffPart,price_usd,source\r\nqm9790,31250.5,quote 17\r\n\r\nMCX75310AAS-NEAT,2100,"a, b"\r\nrack,900,\r\npdu,0\r\n'
    found = read(tmp_path, text)
    assert {part: price.price_usd for part, price in found.prices.items()} == {
        "qm9790": 31250.5,
        "connectx-7-400g": 2100.0,
        "rack": 900.0,
        "pdu": 0.0,
    }
    assert found.prices["qm9790"].source == "quote 17"
    assert found.prices["qm9790"].where.endswith("prices.csv:2")
    assert found.prices["connectx-7-400g"].source == "a, b"
    assert found.get("sn5600") is None


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("part,price_usd\nqm9970,5\n", 2, 'Did you mean "qm9'),
        ("part,price_usd\nqm9790,-5\n", 2, 'price_usd "-5" is not a price'),
        ("part,price_usd\nqm9790,-0\n", 2, 'price_usd "-0" is not a price'),
        ("part,price_usd\nqm9790,NaN\n", 2, 'price_usd "NaN"'),
        ("part,price_usd\nqm9790,inf\n", 2, 'price_usd "inf"'),
        ("part,price_usd\nqm9790,1e300\n", 2, 'price_usd "1e300"'),
        ("part,price_usd\nqm9790,$5\n", 2, "without thousands separators"),
        ("part,price_usd\nqm9790,\n", 2, 'price_usd ""'),
        ('part,price_usd\nqm9790,"1,000"\n', 2, 'price_usd "1,000"'),
        ("part,price_usd\nqm9790,1,000\n", 2, "has 3 cells for 2 columns"),
        ("part,price_usd\n,5\n", 2, "a price and no part"),
        ("part,price_usd\nqm9790,5\nQM9790,6\n", 3, "prices.csv:2; a part has one price"),
        ("part;price_usd\nqm9790;5\n", 1, 'the columns are "part;price_usd"'),
        ("qm9790,5\n", 1, "needed are part,price_usd"),
        ("", 1, "needed are part,price_usd"),
        ("part,price_usd,currency\nqm9790,5,EUR\n", 1, 'column "currency" is unknown'),
        ("part,price_usd,part\n", 1, "a column is named twice"),
        ('part,price_usd\nqm9790,"5\n', 2, "close every quote"),
        (b"part,price_usd\nqm9790,\xff\n", 2, "is not UTF-8"),
        ("part,price_usd\nqm9790,5\x00\n", 2, "prices.csv:2"),
        ("part,price_usd\n\x1b[31mred,5\n", 2, "\\x1b[31mred"),
        ("part,price_usd\n" + "q" * 200_000 + ",5\n", 2, "is not CSV"),
        ("part,price_usd\n" + "q" * 2000 + ",5\n", 2, "part has 2000 characters"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(
    tmp_path: Path, data: str | bytes, line: int, words: str
) -> None:
    message = refusal(tmp_path, data)
    assert f"prices.csv:{line}: " in message
    assert words in message
    assert "\n" not in message
    assert message.isprintable()


def test_every_wrong_line_is_told_up_to_twenty(tmp_path: Path) -> None:
    lines = refusal(tmp_path, "part,price_usd\n" + "nothing,1\n" * 50).split("\n")
    assert len(lines) == 20
    assert ":3: " in lines[1]


def test_a_file_that_is_too_long_missing_or_a_folder_is_refused(tmp_path: Path) -> None:
    assert "larger than 4 MiB" in refusal(tmp_path, b"x" * (MAX_FILE_BYTES + 1))
    many = tmp_path / "many.csv"
    many.write_text("part,price_usd\n" + "".join(f"p{i},1\n" for i in range(50_001)))
    with pytest.raises(InputError, match=r"many.csv:50002: has more than 50000 prices"):
        read_price_list(many, str)
    for path in (tmp_path / "none.csv", tmp_path, "nul\0"):
        with pytest.raises(InputError, match="can't be read"):
            read_price_list(path, resolve)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes, header: bool) -> None:
    refused = ""
    prices: list[float] = []
    try:
        found = read(tmp_path, b"part,price_usd\n" + data if header else data)
        prices = [price.price_usd for price in found.prices.values()]
    except InputError as error:
        refused = str(error)
    assert all(line.isprintable() for line in refused.split("\n"))
    assert all(0 <= price < 1e13 for price in prices)
