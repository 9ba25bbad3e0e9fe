"""The messages of etcd's API (api/etcdserverpb/rpc.proto of etcd 3.5) that srv6net uses, without
generated code: that would demand one version of protobuf. Fields that srv6net leaves alone are
absent; protobuf skips them in what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_BYTES, _STRING, _BOOL = _Field.TYPE_BYTES, _Field.TYPE_STRING, _Field.TYPE_BOOL
# The enumerations of Compare are read and written as the numbers that they are.
_INT64, _INT32 = _Field.TYPE_INT64, _Field.TYPE_INT32
_PACKAGE = "srv6net.etcd"
EQUAL = 0
CREATE, MOD = 1, 2

# Name, number, and type or message; a list of messages ends with an asterisk.
_Fields = Mapping[str, tuple[int, "_Field.Type.ValueType | str"]]
_MESSAGES: Mapping[str, _Fields] = {
    "KeyValue": {
        "key": (1, _BYTES),
        "create_revision": (2, _INT64),
        "mod_revision": (3, _INT64),
        "value": (5, _BYTES),
    },
    "RangeRequest": {"key": (1, _BYTES), "range_end": (2, _BYTES), "limit": (3, _INT64)},
    "RangeResponse": {"kvs": (2, "KeyValue*"), "more": (3, _BOOL)},
    "PutRequest": {"key": (1, _BYTES), "value": (2, _BYTES), "lease": (3, _INT64)},
    "DeleteRangeRequest": {"key": (1, _BYTES), "range_end": (2, _BYTES)},
    "RequestOp": {
        "request_range": (1, "RangeRequest"),
        "request_put": (2, "PutRequest"),
        "request_delete_range": (3, "DeleteRangeRequest"),
    },
    "Compare": {
        "result": (1, _INT32),
        "target": (2, _INT32),
        "key": (3, _BYTES),
        "create_revision": (5, _INT64),
        "mod_revision": (6, _INT64),
    },
    "TxnRequest": {
        "compare": (1, "Compare*"),
        "success": (2, "RequestOp*"),
        "failure": (3, "RequestOp*"),
    },
    "TxnResponse": {"succeeded": (2, _BOOL)},
    "LeaseGrantRequest": {"TTL": (1, _INT64)},
    "LeaseGrantResponse": {"ID": (2, _INT64)},
    "LeaseRevokeRequest": {"ID": (1, _INT64)},
    "LeaseRevokeResponse": {},
    "LeaseKeepAliveRequest": {"ID": (1, _INT64)},
    "LeaseKeepAliveResponse": {"ID": (2, _INT64), "TTL": (3, _INT64)},
    "AuthenticateRequest": {"name": (1, _STRING), "password": (2, _STRING)},
    "AuthenticateResponse": {"token": (2, _STRING)},
    "LeaderKey": {
        "name": (1, _BYTES),
        "key": (2, _BYTES),
        "rev": (3, _INT64),
        "lease": (4, _INT64),
    },
    "CampaignRequest": {"name": (1, _BYTES), "lease": (2, _INT64), "value": (3, _BYTES)},
    "CampaignResponse": {"leader": (2, "LeaderKey")},
}
# Members of a union: only one is written, even where it is 0.
_UNIONS = {
    "RequestOp": ("request", ("request_range", "request_put", "request_delete_range")),
    "Compare": ("target_union", ("create_revision", "mod_revision")),
}


def _described() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="srv6net/etcd.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        union, members = _UNIONS.get(name, ("", ()))
        if union:
            message.oneof_decl.add(name=union)
        for field, (number, kind) in fields.items():
            made = message.field.add(name=field, number=number, label=_Field.LABEL_OPTIONAL)
            if isinstance(kind, str):
                made.type = _Field.TYPE_MESSAGE
                made.type_name = f".{_PACKAGE}.{kind.rstrip('*')}"
                if kind.endswith("*"):
                    made.label = _Field.LABEL_REPEATED
            else:
                made.type = kind
            if field in members:
                made.oneof_index = 0
    return file


# A pool of its own: other clients of etcd may be in this process.
_POOL = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(_described().SerializeToString())


def message(name: str) -> Any:
    """The class of a message."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
