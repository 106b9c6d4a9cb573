"""``gpufabric schema``."""

import json

import pytest

from gpufabric.cli.run import run


@pytest.mark.parametrize("kind", ["cluster", "job"])
def test_the_schema_itself_is_printed(kind, capsys):
    assert run(["schema", kind]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert run(["schema", kind, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"format": "gpufabric/1", "command": "schema", "kind": kind, "schema": schema}


def test_an_unknown_kind_is_one_line(capsys):
    assert run(["schema", "clutser"]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.count("\n") == 1
    assert "cluster" in caught.err
    assert "job" in caught.err
