"""Tables of LLDP neighbours: SONiC ``show lldp table``, NX-OS and EOS ``show lldp neighbors`` → :class:`FoundFabric`.

SONiC prints columns of fixed width under dashes; NX-OS breaks the line after a long name; EOS has one neighbour a line. The
columns are those of the vendors' command references (SONiC Command Reference, https://github.com/sonic-net/sonic-utilities;
Cisco Nexus 9000 and Arista EOS user guides).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from gpufabric.formats.clean_text import CleanLine, by_node, read_clean
from gpufabric.formats.lldp_rows import LldpRows, Neighbour
from gpufabric.records.found_fabric import FoundFabric

_MAX_LINE = 1024
_DASHES = re.compile(r"\s*-{2,}(?:\s+-{2,})*\s*")
_QUIET = re.compile(
    r"\s*(?:Capability codes:.*|\([A-Z]\)\s.*|Last table change time\b.*|Number of table \w+\b.*|"
    r"\d+ entries displayed.*|Total entries displayed:\s*\d+\s*)",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"\s*Total entries displayed:\s*(\d{1,7})\s*", re.IGNORECASE)
_HEADERS = {
    "sonic": re.compile(r"\s*LocalPort\s+RemoteDevice\s+RemotePortID\b.*", re.IGNORECASE),
    "nxos": re.compile(r"\s*Device ID\s+Local Intf\s+Hold-?time\s+Capability\s+Port ID\s*", re.IGNORECASE),
    "eos": re.compile(r"\s*Port\s+Neighbor Device ID\s+Neighbor Port ID\s+TTL\s*", re.IGNORECASE),
}
_CAPABILITIES = re.compile(r"[BRCWPTSONDA]{1,8}(?:,[BRCWPTSONDA])*")
_NXOS = re.compile(r"(?:(\S+)\s+)?(\S+)\s+(\d{1,5})\s+(?:([A-Z, ]{1,20}?)\s+)?(\S+)")
_EOS = re.compile(r"(\S+)\s+(\S.*?)\s{1,8}(\S+)\s+(\d{1,5})")


def read_lldp_table(source: str | Path | BinaryIO, name: str = "", device: str = "") -> FoundFabric:
    """Read tables of LLDP neighbours as switches print them.

    Parameters
    ----------
    source
        Path of a plain or gzip file, ``-`` for standard input, or an open binary stream.
    name
        What findings call the file; default: the path.
    device
        Whose neighbours these are; default: the prompt before the command, labels in front of the lines, else the file's name.

    Returns
    -------
    FoundFabric
        The local devices and their neighbours; rates are unknown.

    Raises
    ------
    InputError
        When the file can't be opened or read. What is in it never raises.
    """
    text = read_clean(source, name)
    rows = LldpRows(text, "lldp table", device)
    for node, lines in by_node(text.lines).items():
        table = _Table(rows, node)
        for line in lines:
            table.take(line)
        table.end_table(lines[-1].number)
    return rows.finish()


class _Table:
    """Takes the lines of one node and keeps the kind of table and its columns."""

    def __init__(self, rows: LldpRows, node: str) -> None:
        self._rows, self._device = rows, node
        self._kind = ""
        self._columns: list[tuple[int, int]] = []
        self._long_name = ""
        self._count, self._total = 0, -1

    def take(self, line: CleanLine) -> None:
        """Take one line."""
        text = line.text[:_MAX_LINE].expandtabs().rstrip()
        if not text.strip() or self._heading(text, line.number):
            return
        if not self._kind or len(line.text) > _MAX_LINE or not self._row(text, line.number):
            self._rows.miss(line.number)

    def end_table(self, line: int) -> None:
        """Compare the number of rows with what the footer says."""
        if self._total > self._count:
            self._rows.rows.note(
                "found-file-cut",
                "warning",
                line,
                f"the table says {self._total} neighbours, but has {self._count}",
                "give the whole output",
            )
        self._count, self._total, self._long_name = 0, -1, ""

    def _heading(self, text: str, number: int) -> bool:
        """Say whether the line is a prompt, a header, a rule or a footer."""
        prompt = self._rows.prompt(text)
        if prompt is not None:
            self.end_table(number)
            self._device, self._kind = prompt, ""
            return True
        for kind, header in _HEADERS.items():
            if header.fullmatch(text):
                self._kind, self._columns = kind, []
                return True
        if _DASHES.fullmatch(text):
            if self._kind == "sonic" and not self._columns:
                self._columns = [found.span() for found in re.finditer(r"-{2,}", text)]
            return True
        total = _TOTAL.fullmatch(text)
        if total is not None:
            self._total = int(total[1])
        return _QUIET.fullmatch(text) is not None

    def _row(self, text: str, number: int) -> bool:
        take = {"sonic": self._sonic, "nxos": self._nxos, "eos": self._eos}[self._kind]
        return take(text, number)

    def _add(self, number: int, local: str, system: str, port: str, note: str = "") -> bool:
        self._count += 1
        self._rows.add(Neighbour(number, local, system, system, port, False, note), self._device)
        return True

    def _sonic(self, text: str, number: int) -> bool:
        if len(self._columns) >= 4:
            bounds = [start for start, _ in self._columns[1:]] + [_MAX_LINE]
            starts = [0, *bounds[:-1]]
            aligned = all(start == 0 or start >= len(text) or text[start - 1] == " " for start in starts)
            if aligned:
                cells = [text[start:end].strip() for start, end in zip(starts, bounds, strict=True)]
                local, system, port, _, *rest = cells
                # Names that were written over by shorter or longer ones have moved what stands behind them.
                moved = any("  " in cell for cell in cells[:4])
                if local and (system or port) and " " not in local and not moved:
                    return self._add(number, local, system, port, rest[0] if rest else "")
        words = text.split()
        if len(words) < 3:
            return False
        rest = words[4:] if len(words) > 3 and _CAPABILITIES.fullmatch(words[3]) else words[3:]
        return self._add(number, words[0], words[1], words[2], " ".join(rest))

    def _nxos(self, text: str, number: int) -> bool:
        if len(text.split()) == 1 and not text[0].isspace():
            self._long_name = text.strip()
            return True
        found = _NXOS.fullmatch(text.strip())
        if found is None:
            return False
        name = self._long_name if text[0].isspace() and self._long_name else found[1] or self._long_name
        self._long_name = ""
        return bool(name) and self._add(number, found[2], name, found[5])

    def _eos(self, text: str, number: int) -> bool:
        found = _EOS.fullmatch(text.strip())
        return found is not None and self._add(number, found[1], found[2], found[3])
