"""What reaches the terminal: tables, text and JSON."""

import json

from gpufabric.cli.output import note, print_document, print_findings, print_table, print_text
from gpufabric.records.findings import Finding


def test_document_names_format_and_command_first(capsys):
    print_document("parts", {"parts": []})
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["format", "command", "parts"]
    assert document["format"] == "gpufabric/1"


def test_table_in_a_pipe_is_not_wrapped_and_aligns_numbers_right(capsys):
    print_table(["part", "count"], [["a" * 200, "7"], ["b", "1,024"]], title="parts")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "parts"
    assert any("a" * 200 in line for line in lines)
    seven = next(line for line in lines if line.startswith("aaa"))
    thousand = next(line for line in lines if line.startswith("b"))
    assert seven.rstrip().index("7") == thousand.rstrip().index("4")


def test_table_shows_markup_and_escapes_control_characters(capsys):
    print_table(["name"], [["[bold]x[/bold]\x1b[2J"]])
    out = capsys.readouterr().out
    assert "[bold]x[/bold]\\x1b[2J" in out
    assert "\x1b" not in out


def test_a_table_without_headings_has_no_heading_line(capsys):
    print_table(["", ""], [["GPUs", "1,016"], ["servers", "127"]], title="Cluster")
    assert capsys.readouterr().out == "Cluster\nGPUs      1,016\nservers     127\n\n"


def test_empty_table_prints_its_headings(capsys):
    print_table(["part", "count"], [])
    assert "part" in capsys.readouterr().out


def test_text_keeps_lines_and_escapes_the_rest(capsys):
    print_text("one\ntwo\r\x1b]0;title\x07")
    assert capsys.readouterr().out == "one\ntwo\\r\\x1b]0;title\\x07\n"


def test_notes_go_to_stderr(capsys):
    note("wrote out/demo")
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err == "wrote out/demo\n"


def test_findings_are_printed_worst_first_with_their_fix(capsys):
    print_findings(
        [
            Finding("spare-ports", "info", "leaf-1", "4 ports are free"),
            Finding("lid-limit", "error", "compute", "50,000 LIDs", fix="split the subnet"),
        ]
    )
    assert capsys.readouterr().out == (
        "error: compute: 50,000 LIDs [lid-limit]\n    split the subnet\n"
        "info: leaf-1: 4 ports are free [spare-ports]\n"
    )
