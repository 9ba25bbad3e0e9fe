"""A gNMI client: Get and Set of JSON, and srv6mgrd's plan."""

from __future__ import annotations

import json
import re
import traceback

IMPORT_ERROR = None
try:
    import grpc
    from gnmi_pb import gnmi_pb2 as pb
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    IMPORT_ERROR = traceback.format_exc()

ARGUMENTS = {
    "host": {"type": "str", "required": True},
    "port": {"type": "int", "default": 9339},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "ca": {"type": "path"},
    "certificate": {"type": "path"},
    "key": {"type": "path", "no_log": False},
    "server_name": {"type": "str"},
    "timeout": {"type": "int", "default": 60},
}
ROOT = "srv6mgr-srv6:srv6"
_PLAN = "/srv6mgr.operations.v1.Operations/Plan"


class RouterError(Exception):
    """The router's answer, or why there is none."""


class Router:
    """srv6-gnmid of one router."""

    def __init__(self, parameters):
        self._timeout = parameters["timeout"]
        self._metadata = [
            (name, parameters[name]) for name in ("username", "password") if parameters[name]
        ]
        self._name = parameters["host"]
        self._channel = _channel(parameters)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()

    def get(self, path, kind="ALL"):
        """The JSON below a path; None where there is nothing."""
        request = pb.GetRequest(
            path=[parsed(path)],
            type=pb.GetRequest.DataType.Value(kind),
            encoding=pb.JSON_IETF,
        )
        try:
            answer = self._call("/gnmi.gNMI/Get", request, pb.GetResponse)
        except RouterError as error:
            if error.args[1:] == ("NOT_FOUND",):
                return None
            raise
        values = [u.val.json_ietf_val for n in answer.notification for u in n.update]
        return json.loads(values[0]) if values else None

    def set(self, tree, *, replace):
        """Write the whole configuration, or merge into it, in one transaction."""
        update = pb.Update(
            path=parsed(f"/{ROOT}"), val=pb.TypedValue(json_ietf_val=json.dumps(tree).encode())
        )
        request = pb.SetRequest(**{"replace" if replace else "update": [update]})
        self._call("/gnmi.gNMI/Set", request, pb.SetResponse)

    def plan(self, tree):
        """What a commit of the whole configuration would do, as commands."""
        request, response = _plan_messages()
        text = json.dumps({ROOT: tree})
        answer = self._call(_PLAN, request(configuration=text), response)
        return [
            {"verb": one.verb, "object": one.object, "command": one.command}
            for one in answer.operation
        ]

    def _call(self, method, request, response):
        call = self._channel.unary_unary(
            method,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString,
        )
        try:
            return call(request, timeout=self._timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            code = error.code().name
            raise RouterError(f"{self._name}: {error.details() or code}", code) from None


def parsed(text):
    """The path ``/a/b[key=value]/c``."""
    path = pb.Path()
    for name, keys in re.findall(r"/([^/\[]+)((?:\[[^\]]*\])*)", text):
        path.elem.add(name=name, key=dict(re.findall(r"\[([^=\]]+)=([^\]]*)\]", keys)))
    return path


def _channel(parameters):
    host = parameters["host"]
    if host.startswith("unix:"):
        return grpc.insecure_channel(host)

    def content(name):
        if not parameters[name]:
            return None
        with open(parameters[name], "rb") as file:
            return file.read()

    try:
        credentials = grpc.ssl_channel_credentials(
            content("ca"), content("key"), content("certificate")
        )
    except OSError as error:
        raise RouterError(f"{error.filename}: {error.strerror}") from None
    name = parameters["server_name"]
    options = [("grpc.ssl_target_name_override", name)] if name else []
    address = f"[{host}]" if ":" in host else host
    return grpc.secure_channel(f"{address}:{parameters['port']}", credentials, options)


def _plan_messages():
    """proto/srv6mgr/operations/v1/operations.proto, as far as it is used here."""
    field = descriptor_pb2.FieldDescriptorProto
    package = "srv6mgr.operations.v1"
    file = descriptor_pb2.FileDescriptorProto(name="plan.proto", package=package, syntax="proto3")

    def add(name, fields):
        message = file.message_type.add(name=name)
        for number, (one, kind) in enumerate(fields, 1):
            message.field.add(name=one, number=number, type=kind, label=field.LABEL_OPTIONAL)
        return message

    text = field.TYPE_STRING
    add("PlanRequest", [("configuration", text)])
    add(
        "Operation",
        [("number", field.TYPE_UINT32), ("verb", text), ("object", text), ("command", text)],
    )
    response = file.message_type.add(name="PlanResponse")
    response.field.add(
        name="operation", number=1, type=field.TYPE_MESSAGE, label=field.LABEL_REPEATED,
        type_name=f".{package}.Operation",
    )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in ("PlanRequest", "PlanResponse")
    ]
