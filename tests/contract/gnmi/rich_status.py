"""google.rpc.Status as a client reads it, from the definitions of googleapis."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import any_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_STRING, _INT32, _MESSAGE = (
    FieldDescriptorProto.TYPE_STRING,
    FieldDescriptorProto.TYPE_INT32,
    FieldDescriptorProto.TYPE_MESSAGE,
)
_MESSAGES = {
    "Status": ((_INT32, "code"), (_STRING, "message"), (_MESSAGE, "details")),
    "FieldViolation": ((_STRING, "field"), (_STRING, "description"), (_STRING, "reason")),
    "BadRequest": ((_MESSAGE, "field_violations"),),
}
# Of lists.
_ITEMS = {"details": ".google.protobuf.Any", "field_violations": ".google.rpc.FieldViolation"}


def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    file = FileDescriptorProto(
        name="rpc.proto",
        package="google.rpc",
        syntax="proto3",
        dependency=[any_pb2.DESCRIPTOR.name],
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (type_, field) in enumerate(fields, 1):
            added = message.field.add(name=field, number=number, type=type_)
            added.label = FieldDescriptorProto.LABEL_OPTIONAL
            if type_ == _MESSAGE:
                added.label, added.type_name = FieldDescriptorProto.LABEL_REPEATED, _ITEMS[field]
    pool.Add(file)
    return pool


_POOL = _pool()


def read(data: bytes) -> tuple[int, str, list[tuple[str, str, str]]]:
    """Code and message, and of each violation: path, message, error-app-tag."""
    status = _class("Status").FromString(data)
    found = []
    for detail in status.details:
        assert detail.type_url == "type.googleapis.com/google.rpc.BadRequest"
        request = _class("BadRequest").FromString(detail.value)
        found += [(v.field, v.description, v.reason) for v in request.field_violations]
    return status.code, status.message, found


def violations(error: grpc.RpcError) -> list[tuple[str, str, str]]:
    """Of a failed call, whose status it has to repeat (as grpc_status.rpc_status checks)."""
    call: Any = error
    data = [value for name, value in call.trailing_metadata() if name == "grpc-status-details-bin"]
    if not data:
        return []
    code, message, found = read(data[0])
    assert (code, message) == (call.code().value[0], call.details())
    return found


def _class(name: str) -> Any:
    return GetMessageClass(_POOL.FindMessageTypeByName(f"google.rpc.{name}"))
