"""Chakra's schema (protobuf) → message classes, as far as a trace of collectives needs it.

Field numbers and types are those of ``et_def.proto``, https://github.com/mlcommons/chakra, read 2026-12-01. The package
protobuf is an extra (``gpufabric[chakra]``) and is loaded when a trace is written or read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gpufabric.errors import InputError

PACKAGE = "ChakraProtoMsg"
COMM_COLL_NODE = 7
#: Values of CollectiveCommType.
COLLECTIVES = {
    "all_reduce": 0,
    "reduce": 1,
    "all_gather": 2,
    "gather": 3,
    "scatter": 4,
    "broadcast": 5,
    "all_to_all": 6,
    "reduce_scatter": 7,
}
_MESSAGES: dict[str, tuple[tuple[str, int, str, bool], ...]] = {
    "AttributeProto": (
        ("name", 1, "STRING", False),
        ("doc_string", 2, "STRING", False),
        ("int32_val", 7, "INT32", False),
        ("int64_val", 9, "INT64", False),
        ("uint32_val", 11, "UINT32", False),
        ("uint64_val", 13, "UINT64", False),
        ("bool_val", 27, "BOOL", False),
        ("string_val", 29, "STRING", False),
    ),
    "GlobalMetadata": (("version", 1, "STRING", False), ("attr", 2, "AttributeProto", True)),
    "Node": (
        ("id", 1, "UINT64", False),
        ("name", 2, "STRING", False),
        # An enumeration in the schema; on the wire the same number.
        ("type", 3, "INT32", False),
        ("ctrl_deps", 4, "UINT64", True),
        ("data_deps", 5, "UINT64", True),
        ("start_time_micros", 6, "UINT64", False),
        ("duration_micros", 7, "UINT64", False),
        ("attr", 10, "AttributeProto", True),
    ),
}


@cache
def chakra_messages() -> dict[str, Any]:
    """Return the message classes by name: ``AttributeProto``, ``GlobalMetadata`` and ``Node``.

    Raises
    ------
    InputError
        When the package protobuf is not installed.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: PLC0415
    except ModuleNotFoundError:
        raise InputError(
            "chakra: traces need the package protobuf, which is not installed; pip install gpufabric[chakra], or leave them "
            "out with --set workload=none"
        ) from None
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="gpufabric_chakra.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            added = message.field.add(name=field, number=number)
            added.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind in _MESSAGES:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind}")
            if name == "AttributeProto" and field.endswith("_val"):
                added.oneof_index = 0
        if name == "AttributeProto":
            message.oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in _MESSAGES
    }
