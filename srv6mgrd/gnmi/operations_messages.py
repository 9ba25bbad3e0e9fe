"""The messages of ``proto/srv6mgr/operations/v1/operations.proto``, without generated code: that
would demand one version of protobuf. A test compares both."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "srv6mgr.operations.v1"
SERVICE = f"{PACKAGE}.Operations"
FILE = "srv6mgr/operations/v1/operations.proto"

_Field = descriptor_pb2.FieldDescriptorProto
_STRING, _UINT32, _MESSAGE = _Field.TYPE_STRING, _Field.TYPE_UINT32, _Field.TYPE_MESSAGE
_OPERATION = "Operation"
# Fields by message, numbered in order; _MESSAGE is a list of operations.
_MESSAGES: dict[str, dict[str, _Field.Type.ValueType]] = {
    "PlanRequest": {"configuration": _STRING},
    "PlanResponse": {"operation": _MESSAGE},
    "ReconcileRequest": {},
    "ReconcileResponse": {"operation": _MESSAGE},
    "ClearCountersRequest": {"sid": _STRING},
    "ClearCountersResponse": {},
    _OPERATION: {"number": _UINT32, "verb": _STRING, "object": _STRING, "command": _STRING},
}
METHODS = ("Plan", "Reconcile", "ClearCounters")


def described() -> descriptor_pb2.FileDescriptorProto:
    """The file as a compiler of protobuf describes it."""
    file = descriptor_pb2.FileDescriptorProto(name=FILE, package=PACKAGE, syntax="proto3")
    service = file.service.add(name="Operations")
    for method in METHODS:
        service.method.add(
            name=method,
            input_type=f".{PACKAGE}.{method}Request",
            output_type=f".{PACKAGE}.{method}Response",
        )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), 1):
            listed = kind == _MESSAGE
            message.field.add(
                name=field,
                json_name=field,
                number=number,
                type=kind,
                label=_Field.LABEL_REPEATED if listed else _Field.LABEL_OPTIONAL,
                type_name=f".{PACKAGE}.{_OPERATION}" if listed else None,
            )
    return file


_POOL = descriptor_pool.Default()
_POOL.AddSerializedFile(described().SerializeToString())


def message(name: str) -> Any:
    """The class of a message."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))
