import json
from pathlib import Path

from gpufabric.cli.run import run

MEASURED = str(Path(__file__).parents[2] / "captured" / "measurements" / "measured.csv")


def test_the_document_has_the_fields_that_programs_rely_on(capsys):
    assert run(["validate", "collectives", MEASURED, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["command"]) == ("gpufabric/1", "validate collectives")
    row = document["rows"][0]
    needed = {"id", "cluster", "quantity", "unit", "predicted", "low", "high", "measured", "error"}
    assert needed <= set(row)
    figures = {"rows", "clusters", "median_abs_error", "p90_abs_error", "bias", "inside_range"}
    summary = document["summary"]
    assert figures <= set(summary)
    for group in ("by_class", "by_op", "by_size_band"):
        assert all(set(found) == figures for found in summary[group].values())
    assert document["not_counted_by_reason"]["published to too few digits"] == 1
    assert len(document["left_out"]) == 5


def test_tables_say_what_is_reached_and_notes_why_rows_do_not_count(capsys):
    assert run(["validate", "collectives", MEASURED, "--rows"]) == 0
    printed = capsys.readouterr()
    for text in ("what is to be reached", "By class", "By operation", "By size", "a-1", "all that count"):
        assert text in printed.out
    assert "5 rows of 3 clusters counted, one vote a cluster" in printed.err
    assert "not counted: 1 row: vendor_expected, not measured" in printed.err
    assert "left out: 1 row (line 10): bytes is blank" in printed.err


def test_a_file_that_is_no_table_is_one_line(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert run(["validate", "collectives", str(tmp_path / "x.csv")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "column cluster is missing" in printed.err
