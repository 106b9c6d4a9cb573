"""``plan.json`` of an acceptance folder → :class:`AcceptancePlan`."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from gpufabric.errors import InputError, printable
from gpufabric.formats.open_input import open_input
from gpufabric.records.acceptance import AcceptancePlan

PLAN_FILE = "plan.json"
RESULTS = "results"
MAX_FILE_BYTES = 1 << 28


def read_acceptance(folder: Path | str) -> AcceptancePlan:
    """Return the plan in a folder that ``gpufabric acceptance`` wrote.

    Raises
    ------
    InputError
        If there is no such file, or it is not such a plan.
    """
    path = Path(folder) / PLAN_FILE
    where = printable(str(path), 200)
    advice = "name a folder that gpufabric acceptance wrote"
    try:
        with open_input(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise InputError(f"{where}: can't be read ({reason}); {advice}") from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{where}: is larger than {MAX_FILE_BYTES >> 20} MiB; {advice}")
    try:
        return AcceptancePlan.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{where}: {printable(place or 'document', 120)}: {printable(first['msg'], 200)}; {advice}"
        ) from None
