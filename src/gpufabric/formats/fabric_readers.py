"""The formats that tell of a fabric's wiring, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.cable_list import read_cable_list
from gpufabric.formats.cabling_dot import read_cabling_dot
from gpufabric.formats.cabling_yaml import read_cabling_yaml
from gpufabric.formats.ibdiagnet_db import read_ibdiagnet_db
from gpufabric.formats.ibdiagnet_lst import read_ibdiagnet_lst
from gpufabric.formats.iblinkinfo import read_iblinkinfo
from gpufabric.formats.ibnetdiscover import read_ibnetdiscover
from gpufabric.formats.ibnetdiscover_ports import read_ibnetdiscover_ports
from gpufabric.formats.lldp_details import read_lldp_details
from gpufabric.formats.lldp_json import read_lldp_json
from gpufabric.formats.lldp_tables import read_lldp_table
from gpufabric.records.found_fabric import FoundFabric

FabricReader = Callable[[str | Path | BinaryIO, str], FoundFabric]

FABRIC_READERS: dict[str, FabricReader] = {
    "ibnetdiscover": read_ibnetdiscover,
    "ibnetdiscover -p": read_ibnetdiscover_ports,
    "iblinkinfo": read_iblinkinfo,
    "ibdiagnet db_csv": read_ibdiagnet_db,
    "ibdiagnet lst": read_ibdiagnet_lst,
    "lldp json": read_lldp_json,
    "lldp table": read_lldp_table,
    "lldp details": read_lldp_details,
    "cable list": read_cable_list,
    "containerlab or air": read_cabling_yaml,
    "dot": read_cabling_dot,
}
