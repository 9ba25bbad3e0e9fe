"""The messages of the service Operations are those of its .proto file."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from srv6mgrd.gnmi import operations_messages

ROOT = Path(__file__).parents[3]


def test_the_messages_are_those_of_the_proto_file(tmp_path: Path) -> None:
    out = tmp_path / "described"
    arguments = ["protoc", f"-I{ROOT}/proto", f"--descriptor_set_out={out}"]
    assert protoc.main([*arguments, f"{ROOT}/proto/{operations_messages.FILE}"]) == 0
    (compiled,) = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    assert operations_messages.described() == compiled
