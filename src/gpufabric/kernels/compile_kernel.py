"""A Python function on arrays → the same function as machine code, kept on disk for the next process.

Importing this file imports Numba (about half a second), so those who may do without import it inside a function.
``NUMBA_DISABLE_JIT=1`` runs everything as plain Python. Numba looks only at a kernel's own file for changes: after editing a
kernel that another file's kernel calls, remove the ``__pycache__`` folders (``make clean``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
# Options that Numba takes and its type hints leave out.
_NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compile_kernel(function: Kernel) -> Kernel:
    """Return *function* compiled on its first call; where no folder can be written it is compiled anew in every process."""
    try:
        compiled = numba.njit(function, cache=True, error_model="numpy")
    except RuntimeError:
        compiled = numba.njit(function, error_model="numpy")
    return cast("Kernel", compiled)


def compile_step(function: Kernel) -> Kernel:
    """Return *function* compiled as a part of the kernels that call it; plain Python can't, which halves the time to compile."""
    compiled = numba.njit(function, error_model="numpy", **_NO_WRAPPERS)
    return cast("Kernel", compiled)
