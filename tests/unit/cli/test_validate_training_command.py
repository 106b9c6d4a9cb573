import json
from pathlib import Path

from gpufabric.cli.run import run

MEASURED = str(Path(__file__).parents[2] / "captured" / "measurements" / "training.csv")


def test_tables_say_what_is_reached_and_what_was_assumed(capsys):
    assert run(["validate", "training", MEASURED, "--rows"]) == 0
    printed = capsys.readouterr()
    for text in ("A100 and H100 in 16 bits", "By source", "fine-tuning", "recomputation was not"):
        assert text in printed.out
    assert "not predicted: 1 row: neither a time nor a rate was published" in printed.err


def test_json_is_one_document(capsys):
    assert run(["validate", "training", MEASURED, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "validate training")
    assert [row["id"] for row in document["rows"]][:2] == ["t-1", "t-2"]


def test_a_file_that_is_no_table_is_one_line(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert run(["validate", "training", str(tmp_path / "x.csv")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
