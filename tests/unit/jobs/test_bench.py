"""What ``gpufabric bench`` refuses before it measures."""

from importlib.util import find_spec

import pytest

from gpufabric.cli.run import run
from gpufabric.errors import InputError
from gpufabric.jobs.bench import BenchOptions, bench


def test_sizes_multiply():
    assert BenchOptions(first_bytes=8, last_bytes=100, factor=3).sizes() == [8, 24, 72]
    assert BenchOptions(first_bytes=8, last_bytes=8).sizes() == [8]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (BenchOptions(first_bytes=16, last_bytes=8), "-e: is smaller than -b"),
        (BenchOptions(factor=1), "-f: 1 does not grow"),
        (BenchOptions(op="gather"), "operation gather: is not measured here"),
        (BenchOptions(op="all_reduse"), 'Did you mean "all_reduce"'),
    ],
)
def test_what_can_not_be_measured_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        bench(options)


def test_without_pytorch_or_a_launcher_one_line_says_so(capsys, monkeypatch):
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert run(["bench"]) == 2
    printed = capsys.readouterr()
    missing = "torch: is not installed" if find_spec("torch") is None else "no launcher has started it"
    assert missing in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("command", ["traffic", "train"])
def test_the_lab_says_what_is_missing(command, capsys, monkeypatch):
    monkeypatch.setattr("gpufabric.lab.find_torch.find_spec", lambda name: None)
    assert run(["lab", command, "leaf-spine-roce"]) == 2
    printed = capsys.readouterr()
    assert "torch: is not installed" in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)
