"""Adapters that a setting names → refused when the server has no such adapter."""

from __future__ import annotations

import re

from gpufabric.errors import InputError, printable
from gpufabric.records.library_model import LibraryModel, LibrarySettings
from gpufabric.records.parts import ServerPart

_MLX5 = re.compile(r"=?(mlx5_(\d{1,9}))(?::\d{1,9})?")


def check_adapters(model: LibraryModel, settings: LibrarySettings, server: ServerPart) -> None:
    """Check the names of NVIDIA adapters, which their driver numbers from ``mlx5_0`` on, one a port.

    Raises
    ------
    InputError
        If a name is beyond the last adapter of the server.
    """
    ports = sum(len(nic.ports) for nic in server.nics)
    for rule in model.settings:
        text = settings.given.get(rule.name, "")
        if rule.acts != "nics" or not ports or text.startswith("^"):
            continue
        for name in text.split(","):
            found = _MLX5.fullmatch(name.strip())
            if found and int(found[2]) >= ports:
                raise InputError(
                    f"{rule.name}: adapter {printable(found[1])} is not in {server.id}; allowed are mlx5_0 to mlx5_{ports - 1}; "
                    "name adapters of the server"
                )
