"""Names of devices or ports → refused with a fix, where the target program could not take them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpufabric.errors import InputError, printable


@dataclass(frozen=True, slots=True)
class NameRule:
    """What one program takes as a name.

    Attributes
    ----------
    program
        Begins the message.
    pattern
        The whole name must match it.
    longest
        Most characters.
    allowed
        The pattern in words.
    same_in_both_cases
        Whether the program takes ``A`` and ``a`` as one name.
    """

    program: str
    pattern: str
    longest: int
    allowed: str
    same_in_both_cases: bool = False


def check_names(names: Iterable[str], rule: NameRule, what: str = "device") -> None:
    """Refuse names that the program could not take: too long, with other characters, or twice.

    Parameters
    ----------
    names
    rule
    what
        What the names are of, in the singular.

    Raises
    ------
    InputError
        For the first name that is not legal.
    """
    listed = list(names)
    legal = re.compile(rf"(?=.{{1,{rule.longest}}}\Z)(?:{rule.pattern})\Z")
    bad = next((name for name in listed if not legal.match(name)), None)
    allowed = f"allowed are {rule.allowed}, at most {rule.longest} characters, each once"
    if bad is not None:
        found = f"{len(bad)} characters" if len(bad) > rule.longest else "other characters"
        raise InputError(
            f'{rule.program}: {what} "{printable(bad)}" can\'t be named like this ({found}); {allowed}; rename the {what}'
        )
    seen = [name.lower() for name in listed] if rule.same_in_both_cases else listed
    if len(set(seen)) < len(seen):
        twice = Counter(seen).most_common(1)[0][0]
        raise InputError(
            f'{rule.program}: {what} "{printable(twice)}" stands twice; {allowed}; rename one of the two'
        )
