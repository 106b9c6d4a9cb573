"""Cable lists whose headers say nothing: the user names the columns."""

from __future__ import annotations

import pytest

from gpufabric.cli.run import run

HEADER = "Rechner,Karte,Verteiler,Buchse\n"
ROWS = "".join(
    f"{server},{port},{leaf},{number}\n"
    for number, (server, port, leaf) in enumerate(
        (s, p, f"lf{p[-1]}") for s in ("n01", "n02", "n03") for p in ("mlx5_0", "mlx5_1")
    )
)
TITLES = ("a_device=Rechner", "a_port=Karte", "b_device=Verteiler", "b_port=buchse")


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "plan.csv").write_text(HEADER + ROWS, encoding="utf-8")
    (tmp_path / "today.csv").write_text(HEADER + ROWS.replace("n02,mlx5_0,lf0,2", ""), encoding="utf-8")
    return str(tmp_path / "plan.csv"), str(tmp_path / "today.csv")


def options(titles):
    return [word for title in titles for word in ("--columns", title)]


def test_named_columns_are_read_in_plan_and_list(lists, capsys):
    plan, today = lists
    assert run(["check", "--design", plan, today, *options(TITLES)]) == 1
    shown = capsys.readouterr().out
    assert "5 of 6 links as designed" in shown
    assert "n02:mlx5_0" in shown


def test_without_names_it_is_no_plan(lists, capsys):
    plan, today = lists
    assert run(["check", "--design", plan, today]) != 0
    assert "links as designed" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        (("a_device",), '"a_device" is not understood'),
        ((*TITLES, "colour=Rechner"), 'column of "colour" can\'t be told'),
    ],
)
def test_wrong_names_are_one_line(lists, capsys, titles, words):
    plan, today = lists
    assert run(["check", "--design", plan, today, *options(titles)]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert len(shown.err.strip().splitlines()) == 1
