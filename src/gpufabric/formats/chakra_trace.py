"""Chakra execution trace (``NAME.RANK.et``) ↔ its operations: messages, each behind its length as a varint.

The first message is GlobalMetadata, all others are Node. Source: https://github.com/mlcommons/chakra, et_def.proto and
protolib, read 2026-12-01.
"""

from __future__ import annotations

from typing import Any

from gpufabric.errors import InputError, printable
from gpufabric.formats.chakra_messages import chakra_messages
from gpufabric.records.simulator_inputs import ChakraNode, ChakraTrace

#: The schema version that ASTRA-sim's own generators write.
VERSION = "0.0.4"
MAX_MESSAGE_BYTES = 1 << 20
MAX_NODES = 1_000_000
_VARINT_BYTES = 5
_PAYLOAD, _MORE = 7, 0x80
_NUMBERS = ("int32_val", "int64_val", "uint32_val", "uint64_val")


def write(trace: ChakraTrace) -> bytes:
    """Return the file of one rank.

    Raises
    ------
    InputError
        When the package protobuf is not installed.
    """
    messages = chakra_messages()
    pieces = [
        _framed(messages["GlobalMetadata"](version=trace.version).SerializeToString(deterministic=True))
    ]
    for node in trace.nodes:
        message = messages["Node"](id=node.id, name=node.name, type=node.type)
        for name, value in node.attributes:
            kind = "bool_val" if isinstance(value, bool) else "int64_val"
            message.attr.add(name=name, **{kind: value})
        pieces.append(_framed(message.SerializeToString(deterministic=True)))
    return b"".join(pieces)


def read(data: bytes, name: str) -> ChakraTrace:
    """Read the file of one rank; *name* is what refusals call it.

    Raises
    ------
    InputError
        When it breaks off, a message is longer than 1 MiB or not of the schema, or an attribute holds no number.
    """
    messages = chakra_messages()
    found = _unframed(data, name)
    if not found:
        raise InputError(f"{printable(name)}: is empty; a trace begins with its metadata")
    metadata = _parsed(messages["GlobalMetadata"], found[0], name)
    nodes = []
    for content in found[1:]:
        node = _parsed(messages["Node"], content, name)
        attributes = tuple((str(attr.name), _value(attr, name)) for attr in node.attr)
        nodes.append(ChakraNode(int(node.id), str(node.name), int(node.type), attributes))
    return ChakraTrace(str(metadata.version), tuple(nodes))


def _value(attribute: Any, name: str) -> int | bool:
    kind = attribute.WhichOneof("value")
    if kind == "bool_val":
        return bool(attribute.bool_val)
    if kind not in _NUMBERS:
        raise InputError(
            f"{printable(name)}: an attribute holds {kind or 'nothing'}; numbers and truth values are read"
        )
    return int(getattr(attribute, kind))


def _parsed(message: Any, content: bytes, name: str) -> Any:
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    made = message()
    try:
        made.ParseFromString(content)
    except DecodeError:
        raise InputError(
            f"{printable(name)}: a message is not of Chakra's schema; give a trace as it was written"
        ) from None
    return made


def _framed(content: bytes) -> bytes:
    size, head = len(content), bytearray()
    while size >= _MORE:
        head.append(size % _MORE + _MORE)
        size >>= _PAYLOAD
    head.append(size)
    return bytes(head) + content


def _unframed(data: bytes, name: str) -> list[bytes]:
    found: list[bytes] = []
    place = 0
    while place < len(data):
        size = shift = 0
        for byte in data[place : place + _VARINT_BYTES]:
            place += 1
            size += byte % _MORE << shift
            shift += _PAYLOAD
            if byte < _MORE:
                break
        else:
            raise InputError(
                f"{printable(name)}: byte {place} begins no message; give a trace as it was written"
            )
        if size > MAX_MESSAGE_BYTES or place + size > len(data) or len(found) > MAX_NODES:
            raise InputError(
                f"{printable(name)}: breaks off, or has too large a message at byte {place} ({size:,} bytes)"
            )
        found.append(data[place : place + size])
        place += size
    return found
