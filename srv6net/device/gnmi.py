"""One router over gNMI, with commit-confirmed (gnmi-commit-confirmed.md).

Each request has a deadline. One that passes leaves open whether the router did it, which the
transaction takes into account.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import operations_messages as operations
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.path import parse
from srv6net.compile.configuration import SRV6, Edit, Entries
from srv6net.device import channel, health
from srv6net.device.entries import ROOT, edited, unqualified
from srv6net.intent.inventory import Endpoint
from srv6net.transaction.ports import DeviceError, NoSuchCommitError, UnreachableError

_PENDING = f"{SRV6}/srv6mgr-operations:transactions/pending/id"
# Paths in one request; srv6-gnmid takes 1,000.
_PATHS = 500
_GET, _SET = "/gnmi.gNMI/Get", "/gnmi.gNMI/Set"
_PLAN = f"/{operations.SERVICE}/Plan"
_UNANSWERED = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
_CHECK_LINK = "check the router and the network in between"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that a router has to answer: reads, dry runs, and changes."""

    read: float = 10.0
    check: float = 30.0
    change: float = 45.0


_DEFAULT_DEADLINES = Deadlines()


class GnmiDevice:
    """Satisfies Device; used by any thread."""

    def __init__(self, endpoint: Endpoint, deadlines: Deadlines = _DEFAULT_DEADLINES) -> None:
        self._endpoint = endpoint
        self._deadlines = deadlines
        self._lock = threading.Lock()
        self._channel: Any = None
        self._metadata: Any = ()

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()

    def read(self, paths: Iterable[str]) -> Entries:
        wanted = list(paths)
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), _PATHS):
            found |= self._values(wanted[start : start + _PATHS], pb.GetRequest.CONFIG)
        return found

    def configuration(self) -> Mapping[str, Any]:
        """All that the router has below the root of the model."""
        found: Mapping[str, Any] = self._values([SRV6], pb.GetRequest.CONFIG).get(SRV6, {})
        return found

    def states(self, paths: Iterable[str]) -> Mapping[str, Mapping[str, Any]]:
        """What the router reports of these entries."""
        wanted = list(paths)
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), _PATHS):
            found |= self._values(wanted[start : start + _PATHS], pb.GetRequest.STATE)
        return found

    def faults(self, paths: Iterable[str]) -> Sequence[str]:
        wanted = sorted(paths)
        states = self.states(wanted)
        return [fault for path in wanted for fault in health.faults(path, states.get(path, {}))]

    def remote_sids(self, paths: Iterable[str]) -> Mapping[str, int]:
        return {path: health.remote_sids(state) for path, state in self.states(paths).items()}

    def check(self, edit: Edit) -> None:
        configuration = json.dumps({ROOT: edited(self.configuration(), edit)})
        request = operations.message("PlanRequest")(configuration=configuration)
        response = operations.message("PlanResponse")
        self._call(_PLAN, request, response, self._deadlines.check)

    def set(self, edit: Edit) -> None:
        self._set(edit)

    def set_confirmed(self, edit: Edit, id: str, seconds: int) -> None:
        commit = ext.Commit(id=id)
        commit.commit.rollback_duration.seconds = seconds
        self._set(edit, commit)

    def confirm(self, id: str) -> None:
        self._end(ext.Commit(id=id, confirm=ext.CommitConfirm()))

    def cancel(self, id: str) -> None:
        self._end(ext.Commit(id=id, cancel=ext.CommitCancel()))

    def _end(self, commit: Any) -> None:
        try:
            self._set(Edit((), {}), commit)
        except _RejectedError as error:
            if error.code is not grpc.StatusCode.FAILED_PRECONDITION:
                raise
            if self._values([_PENDING], pb.GetRequest.STATE):
                # That of another client, or one that is being rolled back.
                raise
            raise NoSuchCommitError(str(error)) from None

    def _set(self, edit: Edit, commit: Any = None) -> None:
        request = pb.SetRequest(
            delete=[_path(path) for path in edit.delete],
            replace=[
                pb.Update(
                    path=_path(path),
                    val=pb.TypedValue(json_ietf_val=json.dumps(value).encode()),
                )
                for path, value in edit.replace.items()
            ],
            extension=[ext.Extension(commit=commit)] if commit is not None else (),
        )
        self._call(_SET, request, pb.SetResponse, self._deadlines.change)

    def _values(self, paths: Sequence[str], kind: int) -> dict[str, Any]:
        """What there is of these paths, each with all of its keys. A request with one path that
        leads nowhere is answered with an error alone, so that its halves are asked for then."""
        if not paths:
            return {}
        request = pb.GetRequest(
            path=[_path(path) for path in paths], type=kind, encoding=pb.JSON_IETF
        )
        try:
            answer = self._call(_GET, request, pb.GetResponse, self._deadlines.read)
        except _RejectedError as error:
            if error.code is not grpc.StatusCode.NOT_FOUND:
                raise
            if len(paths) == 1:
                return {}
            half = len(paths) // 2
            return self._values(paths[:half], kind) | self._values(paths[half:], kind)
        found = {}
        for path, notification in zip(paths, answer.notification, strict=True):
            for update in notification.update:
                value = json.loads(update.val.json_ietf_val)
                found[path] = unqualified(value) if isinstance(value, dict) else value
        return found

    def _call(self, method: str, request: Any, response: Any, seconds: float) -> Any:
        with self._lock:
            if self._channel is None:
                self._metadata = channel.metadata(self._endpoint)
                self._channel = channel.opened(self._endpoint)
        call: Callable[..., Any] = self._channel.unary_unary(
            method,
            request_serializer=type(request).SerializeToString,
            response_deserializer=response.FromString,
        )
        try:
            return call(request, timeout=seconds, metadata=self._metadata)
        except grpc.RpcError as error:
            raise _problem(error, self._endpoint.address, seconds) from None


class _RejectedError(DeviceError):
    """With the status of gRPC."""

    def __init__(self, code: Any, text: str) -> None:
        super().__init__(text)
        self.code = code


def _path(path: str) -> Any:
    return wire.path(parse(path))


def _problem(error: Any, address: str, seconds: float) -> DeviceError:
    code, text = error.code(), error.details() or ""
    if code is grpc.StatusCode.DEADLINE_EXCEEDED and not text.count(": "):
        return UnreachableError(f"{address} did not answer within {seconds:g} s; {_CHECK_LINK}")
    if code in _UNANSWERED:
        return UnreachableError(f"{address} cannot be reached: {_first_line(text)}; {_CHECK_LINK}")
    if code is grpc.StatusCode.UNAUTHENTICATED:
        return DeviceError(f"it does not know this controller: {text}; correct its credentials")
    if code is grpc.StatusCode.PERMISSION_DENIED:
        return DeviceError(f"{text}; give this controller's user the rights in docs/srv6net.md")
    return _RejectedError(code, text or code.name)


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "no reason is given"
