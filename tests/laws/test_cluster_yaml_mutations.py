"""Whatever text is given, a description is read or refused in clean lines."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufabric.errors import InputError
from gpufabric.formats.cluster_yaml import parse_cluster_spec
from gpufabric.formats.job_yaml import parse_job_spec
from gpufabric.formats.yaml_nodes import parse_nodes

CAPTURED = Path(__file__).parents[1] / "captured" / "descriptions"
PARSERS = {"cluster": parse_cluster_spec, "job": parse_job_spec}
SEEDS = [(f.parts[-3], f.read_text(encoding="utf-8")) for f in sorted(CAPTURED.glob("*/good/*.yaml"))]
PIECES = [
    *"!&*?-:[]{},|>%@`#'\"\\\n\t\r\0\x1b\x85\u2028\ufeff",
    "&a ",
    "*a",
    "- ",
    ": ",
    "\n---\n",
    "%YAML 1.1\n",
    "<<: *a",
]
WORDS = [
    "null",
    "true",
    "2:1",
    ".nan",
    "-1",
    "1e999",
    "9" * 450,
    "servers",
    "GenericSwitch",
    "[key]",
    "!!int 3",
    "\\x1b",
    "é",
]
LINE = re.compile(r"^(?:[^:]+(?::\d+)?: .+|… and [\d,]+ more errors)$")


@st.composite
def mutated(draw):
    kind, text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 12))
        text = text[:at] + draw(st.sampled_from([*PIECES, *WORDS, ""])) + text[at + cut :]
    return kind, text


def check_refusal(error: InputError) -> None:
    for line in str(error).split("\n"):
        assert LINE.match(line)
        assert line.isprintable()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_mutated_descriptions(case):
    kind, text = case
    try:
        spec = PARSERS[kind](text, "x.yaml")
    except InputError as error:
        check_refusal(error)
    else:
        assert spec.name


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_any_text(text):
    try:
        root = parse_nodes(text, "x.yaml")
    except InputError as error:
        check_refusal(error)
    else:
        assert isinstance(root.plain(), dict)


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1, max_size=100))
def test_any_source_name(where):
    with pytest.raises(InputError) as caught:
        parse_nodes("", where)
    assert str(caught.value).isprintable()


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 50), st.integers(1, 50), st.sampled_from(["{}:{}", '"{}:{}"', "'{}:{}'", '" {} : {} "'])
)
def test_ratio_forms_mean_the_same(down, up, form):
    ratio = form.format(down, up)
    text = f"servers: {{model: a, count: 2}}\nfabrics: {{topology: fat-tree, oversubscription: {ratio}}}\n"
    assert parse_cluster_spec(text, "x").fabrics[0].oversubscription == pytest.approx(down / up)
