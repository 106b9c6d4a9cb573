"""PyTorch, where it is needed: found without being imported, or missed in one line."""

from __future__ import annotations

from importlib.util import find_spec

from gpufabric.errors import InputError


def find_torch() -> None:
    """Make sure that PyTorch is installed.

    Raises
    ------
    InputError
        If it is not.
    """
    if find_spec("torch") is None:
        raise InputError(
            "torch: is not installed; this command runs real collectives with torch.distributed; "
            'install it: pip install "gpufabric[lab]"'
        )
