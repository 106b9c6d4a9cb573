"""Text with a unit ↔ SI numbers; the only file that knows 8, 1000 and 1024.

Inside gpufabric everything is seconds, bytes, bytes/s, flop, metres, watts and US dollars. Bandwidth is per direction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from gpufabric.errors import InputError, printable

BITS_PER_BYTE = 8
_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_PREFIX = r"(?P<prefix>[KMGTP]i|[kKMGTPE])?"
_NUMBER = r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"

_RATE = re.compile(rf"^{_NUMBER}\s*{_PREFIX}(?P<unit>b/s|B/s|bit/s|bps|Bps)$")
_BYTES = re.compile(rf"^{_NUMBER}\s*{_PREFIX}B$")
_POWER = re.compile(rf"^{_NUMBER}\s*{_PREFIX}W$")
_LENGTH = re.compile(rf"^{_NUMBER}\s*(?P<unit>mm|cm|m|km)$")
_TIME = re.compile(rf"^{_NUMBER}\s*(?P<unit>ns|us|µs|ms|s|min|h|d)$")
_FLOPS = re.compile(rf"^{_NUMBER}\s*{_PREFIX}(?:FLOP/s|FLOPS|flop/s)$")
_COUNT = re.compile(rf"^{_NUMBER}\s*(?P<prefix>[kKMBT])?$")
_MESSAGE = re.compile(r"^(?P<number>\d+(?:\.\d+)?)\s*(?P<prefix>[kKmMgGtT])?(?:i?[bB])?$")
_METRES = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_COUNTED = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
YEAR_S = 365.25 * _SECONDS["d"]
_MESSAGE_POWER = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
MAX_MESSAGE_BYTES = 2**50
# From about a day on seconds say nothing to a reader.
_LONG_S = 1e5
_CUBIC_METRES_PER_S_OF_CFM = 0.3048**3 / 60


def _match(pattern: re.Pattern[str], text: object, what: str, example: str) -> re.Match[str]:
    if isinstance(text, bool) or not isinstance(text, str):
        raise InputError(
            f"{what} {printable(str(text))} has no unit; write it with its unit, such as {example}"
        )
    found = pattern.match(text.strip())
    if found is None:
        raise InputError(
            f'{what} "{printable(text)}" is not understood; write a number and a unit, such as {example}'
        )
    return found


def _scaled(found: re.Match[str]) -> float:
    prefix = found.group("prefix") or ""
    return float(found.group("number")) * (_BINARY[prefix] if prefix in _BINARY else _DECIMAL[prefix])


def _positive(value: float, text: object, what: str) -> float:
    if not math.isfinite(value) or value <= 0:
        raise InputError(f'{what} "{printable(str(text))}" must be positive and finite')
    return value


def parse_rate(text: object) -> float:
    """Return bytes per second for a link rate such as ``400 Gb/s`` or ``900 GB/s``; bits and bytes differ by their case."""
    found = _match(_RATE, text, "rate", '"400 Gb/s"')
    bits = found.group("unit") in {"b/s", "bit/s", "bps"}
    return _positive(_scaled(found) / (BITS_PER_BYTE if bits else 1), text, "rate")


def parse_bytes(text: object) -> float:
    """Return bytes for a memory size such as ``80 GiB`` or ``192 GB``."""
    return _positive(_scaled(_match(_BYTES, text, "size", '"80 GiB"')), text, "size")


def parse_power(text: object) -> float:
    """Return watts for a power such as ``14.3 kW``."""
    return _positive(_scaled(_match(_POWER, text, "power", '"40 kW"')), text, "power")


def parse_length(text: object) -> float:
    """Return metres for a length such as ``1.5 m``."""
    found = _match(_LENGTH, text, "length", '"3 m"')
    return _positive(float(found.group("number")) * _METRES[found.group("unit")], text, "length")


def parse_time(text: object) -> float:
    """Return seconds for a duration such as ``130 ns``."""
    found = _match(_TIME, text, "time", '"130 ns"')
    return _positive(float(found.group("number")) * _SECONDS[found.group("unit")], text, "time")


def parse_flops(text: object) -> float:
    """Return flop/s for a compute rate such as ``989 TFLOP/s`` (dense)."""
    return _positive(_scaled(_match(_FLOPS, text, "compute rate", '"989 TFLOP/s"')), text, "compute rate")


def parse_count(text: object, what: str) -> float:
    """Return a count such as ``1e24``, ``70B`` (10⁹) or ``15T`` (10¹²); *what* names it in the refusal."""
    found = _COUNT.match(str(text).strip())
    if found is None:
        raise InputError(
            f'{what} "{printable(str(text))}" is not understood; write a number such as 1e24, 70B (10⁹) or 15T (10¹²)'
        )
    return _positive(float(found.group("number")) * _COUNTED[found.group("prefix") or ""], text, what)


def parse_message_bytes(text: object) -> int:
    """Return the bytes of a message size as nccl-tests reads it: ``8G`` is 2³³, ``8`` is 8, ``256M`` is 2²⁸."""
    found = _MESSAGE.match(str(text).strip())
    if found is None:
        raise InputError(
            f'message size "{printable(str(text))}" is not understood; '
            f"allowed is 1 byte to {format_message_bytes(MAX_MESSAGE_BYTES)}; "
            "write it as nccl-tests does, such as 8, 64K, 256M or 8G"
        )
    value = float(found.group("number")) * 2.0 ** _MESSAGE_POWER[(found.group("prefix") or "").lower()]
    if not 1 <= value <= MAX_MESSAGE_BYTES:
        raise InputError(
            f'message size "{printable(str(text))}" is out of range; '
            f"allowed is 1 byte to {format_message_bytes(MAX_MESSAGE_BYTES)}"
        )
    if value != int(value) and not found.group("prefix"):
        raise InputError(
            f'message size "{printable(str(text))}" is no whole number of bytes; '
            f"allowed is 1 byte to {format_message_bytes(MAX_MESSAGE_BYTES)}; write {int(value)} or {int(value) + 1}"
        )
    return int(value)


def format_message_bytes(value: int) -> str:
    """Return a message size as nccl-tests users write it: 2³³ is ``8G``."""
    for letter, power in (("T", 40), ("G", 30), ("M", 20), ("K", 10)):
        if value >= 2**power and value % 2**power == 0:
            return f"{value >> power}{letter}"
    return str(value)


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: ``1 part``, ``1,016 GPUs``; *plural* is given where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent_text(share: float) -> str:
    """Return a share of 0 to 1, or more, as per cent: with a decimal below 10 %."""
    text = f"{share:.0%}" if share == 0 or share >= 0.0995 else f"{share:.1%}"
    return text.replace("%", " %")


def format_gbps(bytes_per_s: float) -> str:
    """Return a link rate in Gb/s or, from 10 Tb/s, in Tb/s or Pb/s, with its unit."""
    gbps = bytes_per_s * BITS_PER_BYTE / 1e9
    for limit, divisor, unit in ((1e7, 1e6, "Pb/s"), (1e4, 1e3, "Tb/s")):
        if gbps >= limit:
            return f"{_number(gbps / divisor)} {unit}"
    return f"{_number(gbps)} Gb/s"


def gbps(bytes_per_s: float) -> float:
    """Return a rate as the number of Gb/s."""
    return bytes_per_s * BITS_PER_BYTE / 1e9


def mbps(bytes_per_s: float) -> float:
    """Return a rate as the number of Mb/s, as SONiC counts the speed of ports."""
    return bytes_per_s * BITS_PER_BYTE / 1e6


def gigabytes(amount: float) -> float:
    """Return bytes (or bytes/s) as the number of GB (10⁹)."""
    return amount / 1e9


def from_gigabytes(amount: float) -> float:
    """Return the bytes (or bytes/s) of a number of GB (10⁹)."""
    return amount * 1e9


def gibibytes(amount: float) -> float:
    """Return bytes (or bytes/s) as the number of 2³⁰ bytes, which some simulators call a GB."""
    return amount / _BINARY["Gi"]


def from_gibibytes(amount: float) -> float:
    """Return the bytes (or bytes/s) of a number of 2³⁰ bytes."""
    return amount * _BINARY["Gi"]


def from_gbps(amount: float) -> float:
    """Return the bytes/s of a number of Gb/s."""
    return amount * 1e9 / BITS_PER_BYTE


def nanoseconds(seconds: float) -> float:
    """Return a duration as the number of nanoseconds."""
    return seconds * 1e9


def from_nanoseconds(amount: float) -> float:
    """Return the seconds of a number of nanoseconds."""
    return amount * 1e-9


def picoseconds(seconds: float) -> float:
    """Return a duration as the number of picoseconds."""
    return seconds * 1e12


def from_picoseconds(amount: float) -> float:
    """Return the seconds of a number of picoseconds."""
    return amount * 1e-12


def milliseconds(seconds: float) -> float:
    """Return a duration as the number of milliseconds."""
    return seconds * 1e3


def from_milliseconds(amount: float) -> float:
    """Return the seconds of a number of milliseconds."""
    return amount * 1e-3


def from_teraflops(amount: float) -> float:
    """Return the flop/s of a number of TFLOP/s."""
    return amount * _DECIMAL["T"]


def teraflops(amount: float) -> float:
    """Return flop/s, or flop, as the number of TFLOP/s (10¹²)."""
    return amount / _DECIMAL["T"]


def from_microseconds(amount: float) -> float:
    """Return the seconds of a number of microseconds."""
    return amount * 1e-6


def format_gigabytes_per_s(bytes_per_s: float) -> str:
    """Return a bus bandwidth in GB/s (10⁹ bytes), with its unit."""
    return f"{bytes_per_s / 1e9:.4g} GB/s" if bytes_per_s < 1e13 else f"{bytes_per_s / 1e12:,.4g} TB/s"


def format_bytes(amount: float) -> str:
    """Return a memory size in GB (10⁹ bytes), with its unit."""
    return f"{amount / 1e9:.4g} GB"


def format_gibibytes(amount: float) -> str:
    """Return a memory size in GiB (2³⁰ bytes), with its unit."""
    return f"{amount / _BINARY['Gi']:.4g} GiB"


def format_flops(flop_per_s: float) -> str:
    """Return a compute rate in TFLOP/s (10¹² flop/s), with its unit."""
    return f"{_number(flop_per_s / _DECIMAL['T'])} TFLOP/s"


def format_power(watts: float) -> str:
    """Return a power with a fitting unit."""
    for limit, divisor, unit in ((1e6, 1e6, "MW"), (1e3, 1e3, "kW")):
        if watts >= limit:
            return f"{watts / divisor:.4g} {unit}"
    return f"{watts:.4g} W"


def microseconds(seconds: float) -> float:
    """Return a duration as the number of microseconds."""
    return seconds * 1e6


def format_time(seconds: float) -> str:
    """Return a duration with a fitting unit."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds:.4g} s" if seconds < _LONG_S else format_duration(seconds)


def format_airflow(cfm: float) -> str:
    """Return an air flow in CFM (cubic feet per minute, as data sheets print it) and in m³/s."""
    return f"{_number(cfm)} CFM ({_number(cfm * _CUBIC_METRES_PER_S_OF_CFM)} m³/s)"


def format_duration(seconds: float) -> str:
    """Return a long duration in minutes, hours, days or years of 365.25 days; a short one as :func:`format_time` does."""
    for limit, divisor, unit in (
        (60.0, 0.0, ""),
        (3600.0, 60.0, "min"),
        (86400.0, 3600.0, "h"),
        (YEAR_S, 86400.0, "d"),
        (math.inf, YEAR_S, "years"),
    ):
        if seconds < limit:
            return f"{_number(seconds / divisor)} {unit}" if divisor else format_time(seconds)
    return "forever"


def format_length(metres: float) -> str:
    """Return a length in metres, or ``unknown`` when it is not a number."""
    if math.isnan(metres):
        return "unknown"
    return f"{metres:g} m" if metres < 1000 else f"{metres:,.0f} m"


def format_length_range(metres: Iterable[float]) -> str:
    """Return the shortest and the longest of some lengths, such as ``5–19 m``; NaN is a length that is not known."""
    lengths = list(metres)
    known = [length for length in lengths if not math.isnan(length)]
    if not known:
        return format_length(math.nan)
    least, most = min(known), max(known)
    text = format_length(most) if least == most else f"{least:,.4g}–{format_length(most)}"
    return text if len(known) == len(lengths) else f"{text}, some unknown"
