"""The messages of openconfig/grpctunnel, ``proto/tunnel/tunnel.proto`` 0.2, without generated code
(as ``operations_messages``). A test compares them with those of the reference implementation."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "grpctunnel"
FILE = "proto/tunnel/tunnel.proto"
REGISTER, TUNNEL = f"/{PACKAGE}.Tunnel/Register", f"/{PACKAGE}.Tunnel/Tunnel"
# The name of TargetType 9339, which is a string on the wire.
GNMI = "GNMI_GNOI"
# Target.TargetOp
ADD = 1

_Field = descriptor_pb2.FieldDescriptorProto
_STRING, _INT32, _BOOL, _BYTES = (
    _Field.TYPE_STRING,
    _Field.TYPE_INT32,
    _Field.TYPE_BOOL,
    _Field.TYPE_BYTES,
)
# Fields by message, numbered in order. What is no type of protobuf's is an enum of that message.
_MESSAGES: dict[str, dict[str, _Field.Type.ValueType | str]] = {
    "Data": {"tag": _INT32, "data": _BYTES, "close": _BOOL},
    "Target": {
        "op": "TargetOp",
        "accept": _BOOL,
        "target": _STRING,
        "target_type": _STRING,
        "error": _STRING,
    },
    "Session": {
        "tag": _INT32,
        "accept": _BOOL,
        "target": _STRING,
        "target_type": _STRING,
        "error": _STRING,
    },
    "Subscription": {
        "op": "SubscriptionOp",
        "accept": _BOOL,
        "target_type": _STRING,
        "error": _STRING,
    },
}
_ENUMS = {
    "Target": ("TargetOp", ("UNKNOWN", "ADD", "REMOVE")),
    "Subscription": ("SubscriptionOp", ("UNKNOWN", "SUBCRIBE", "UNSUBCRIBE")),
}
# RegisterOp is one of them.
_REGISTER_OP = ("Target", "Session", "Subscription")


def described() -> descriptor_pb2.FileDescriptorProto:
    """What is used of the file, as a compiler of protobuf describes it."""
    file = descriptor_pb2.FileDescriptorProto(name=FILE, package=PACKAGE, syntax="proto3")
    service = file.service.add(name="Tunnel")
    for name, message in (("Register", "RegisterOp"), ("Tunnel", "Data")):
        service.method.add(
            name=name,
            input_type=f".{PACKAGE}.{message}",
            output_type=f".{PACKAGE}.{message}",
            client_streaming=True,
            server_streaming=True,
        )
    for name, fields in _MESSAGES.items():
        _add(file.message_type.add(name=name), fields)
    choice = file.message_type.add(name="RegisterOp")
    choice.oneof_decl.add(name="Registration")
    for number, name in enumerate(_REGISTER_OP, 1):
        choice.field.add(
            name=name.lower(),
            json_name=name.lower(),
            number=number,
            type=_Field.TYPE_MESSAGE,
            label=_Field.LABEL_OPTIONAL,
            type_name=f".{PACKAGE}.{name}",
            oneof_index=0,
        )
    return file


def _add(
    message: descriptor_pb2.DescriptorProto, fields: dict[str, _Field.Type.ValueType | str]
) -> None:
    for number, (name, kind) in enumerate(fields.items(), 1):
        is_enum = isinstance(kind, str)
        first, *more = name.split("_")
        message.field.add(
            name=name,
            json_name=first + "".join(part.title() for part in more),
            number=number,
            type=_Field.TYPE_ENUM if isinstance(kind, str) else kind,
            label=_Field.LABEL_OPTIONAL,
            type_name=f".{PACKAGE}.{message.name}.{kind}" if is_enum else None,
        )
    if message.name in _ENUMS:
        name, values = _ENUMS[message.name]
        enum = message.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)


_POOL = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(described().SerializeToString())


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))


Data, RegisterOp = _class("Data"), _class("RegisterOp")


def registration(target: str) -> Any:
    """Register ``target`` for gNMI."""
    return RegisterOp(target={"op": ADD, "target": target, "target_type": GNMI})


def rejection(session: Any, error: str) -> Any:
    """The answer to a session that is not taken."""
    return RegisterOp(
        session={
            "tag": session.tag,
            "target": session.target,
            "target_type": session.target_type,
            "error": error,
        }
    )
