"""``gpufabric lab`` without the real programs: help and refusals."""

import pytest

from gpufabric.cli.run import run


def test_help_names_the_engines(capsys: pytest.CaptureFixture[str]):
    assert run(["lab", "ib", "--help"]) == 0
    assert "ftree, updn or minhop" in capsys.readouterr().out
    assert run(["lab", "ip", "--help"]) == 0
    assert "Needs root" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["superpod-b200", "--engine", "dor"], 'routing engine "dor" is unknown'),
        (["superpod-b200", "--plane", "9"], "--plane: 9 is not there"),
        (["superpod-b200", "--fabric", "disks"], 'fabric "disks" is not in the cluster'),
        (["leaf-spine-roce"], "OpenSM routes InfiniBand (ethernet found)"),
    ],
)
def test_what_can_not_be_routed_is_said_in_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["lab", "ib", *words]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)
