"""What a program can't take as a name is refused with the way out."""

import pytest

from gpufabric.errors import InputError
from gpufabric.exports.legal_names import NameRule, check_names

RULE = NameRule("slurm", "[a-z0-9-]+", 8, "letters, digits and dashes")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "b c"], '"b c" can\'t be named like this (other characters)'),
        (["a" * 9], "(9 characters)"),
        ([""], "other characters"),
        (["a\n"], "other characters"),
        (["a", "b", "a"], '"a" stands twice'),
        (["\x1b[31m"], "\\x1b"),
    ],
)
def test_bad_names_are_refused_in_one_line(names, found):
    with pytest.raises(InputError) as caught:
        check_names(names, RULE, "server")
    text = str(caught.value)
    assert found in text
    assert text.startswith("slurm: server ")
    assert "at most 8 characters, each once; rename" in text
    assert "\n" not in text
    assert "\x1b" not in text


def test_case_matters_only_where_the_program_says_so():
    check_names(["a", "b"], RULE)
    both = NameRule("x", "[A-Za-z]+", 8, "letters")
    check_names(["a", "A"], both)
    with pytest.raises(InputError, match="stands twice"):
        check_names(["a", "A"], NameRule("x", "[A-Za-z]+", 8, "letters", same_in_both_cases=True))
