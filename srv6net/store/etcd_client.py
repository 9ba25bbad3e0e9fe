"""Requests to the members of an etcd cluster: TLS, authentication, and the next member where one
does not answer.

A request that was not answered may have been carried out and is then sent to the next member.
Writes have to allow for that: srv6net writes with a comparison, and reads again where that failed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from srv6net.store.address import EtcdAddress
from srv6net.store.etcd_messages import message
from srv6net.transaction.ports import StoreError

_KV, _LEASE = "/etcdserverpb.KV", "/etcdserverpb.Lease"
_ELECTION = "/v3electionpb.Election"
_AUTHENTICATE = "/etcdserverpb.Auth/Authenticate"
# A member that is cut off from the others must say so instead of waiting for them
# (rpctypes.MetadataRequireLeaderKey).
_NEEDS_LEADER = ("hasleader", "true")
_UNANSWERED = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        # etcd's own time-out of a request that found no majority.
        grpc.StatusCode.UNKNOWN,
    }
)
_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 3_000),
)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds for one member to answer, and until all are given up. A cluster elects its leader
    again within about 2 s."""

    member: float = 3.0
    cluster: float = 15.0


_DEFAULT = Timeouts()


@dataclass(frozen=True, slots=True)
class Value:
    """A key with its value. ``mod_revision`` changes with each write."""

    key: str
    value: bytes
    mod_revision: int


class UnansweredError(StoreError):
    """No member answered: the request may have been carried out, or not."""


class EtcdClient:
    """Used by any thread."""

    def __init__(self, address: EtcdAddress, timeouts: Timeouts = _DEFAULT) -> None:
        """Connects with the first request. Raises StoreError without its credentials."""
        self._address, self._timeouts = address, timeouts
        credentials = _credentials(address)
        name = (("grpc.ssl_target_name_override", address.server_name),)
        options = [*_OPTIONS, *(name if address.server_name else ())]
        self._channels = [
            grpc.secure_channel(member, credentials, options=options)
            if credentials is not None
            else grpc.insecure_channel(member, options=options)
            for member in address.members
        ]
        self._lock = threading.Lock()
        self._chosen = 0
        self._token = ""

    def close(self) -> None:
        for channel in self._channels:
            channel.close()

    def get(self, key: str) -> Value | None:
        found = self._range(message("RangeRequest")(key=key.encode()))
        return _value(found.kvs[0]) if found.kvs else None

    def below(self, prefix: str) -> list[Value]:
        """All keys that begin with it, in their order."""
        start, end = prefix.encode(), _end(prefix)
        values: list[Value] = []
        while True:
            # In parts: a revision of a large network is larger than a member likes to send at once.
            answer = self._range(message("RangeRequest")(key=start, range_end=end, limit=16))
            values += [_value(kv) for kv in answer.kvs]
            if not answer.more:
                return values
            start = answer.kvs[-1].key + b"\0"

    def txn(self, compare: Sequence[Any], *operations: Any) -> bool:
        """Carry out all operations if all comparisons hold."""
        request = message("TxnRequest")(compare=compare, success=operations)
        return bool(self.call(f"{_KV}/Txn", request, message("TxnResponse")).succeeded)

    def granted(self, seconds: int) -> int:
        """A lease that ends so long after it was last kept alive."""
        request = message("LeaseGrantRequest")(TTL=seconds)
        return int(self.call(f"{_LEASE}/LeaseGrant", request, message("LeaseGrantResponse")).ID)

    def keep_alive(self, lease: int) -> bool:
        """False where the lease has ended."""
        request = message("LeaseKeepAliveRequest")(ID=lease)
        answer = self.call(
            f"{_LEASE}/LeaseKeepAlive", request, message("LeaseKeepAliveResponse"), is_stream=True
        )
        return bool(answer.TTL > 0)

    def revoke(self, lease: int) -> None:
        request = message("LeaseRevokeRequest")(ID=lease)
        self.call(f"{_LEASE}/LeaseRevoke", request, message("LeaseRevokeResponse"))

    def campaign(self, name: str, lease: int, value: str, seconds: float) -> tuple[str, int]:
        """Key and revision of the leadership; UnansweredError if another leads all the time."""
        request = message("CampaignRequest")(name=name.encode(), lease=lease, value=value.encode())
        method, answer = f"{_ELECTION}/Campaign", message("CampaignResponse")
        leader = self.call(method, request, answer, seconds=seconds).leader
        return leader.key.decode(), int(leader.rev)

    def _range(self, request: Any) -> Any:
        return self.call(f"{_KV}/Range", request, message("RangeResponse"))

    def call(
        self,
        method: str,
        request: Any,
        response: Any,
        *,
        is_stream: bool = False,
        seconds: float = 0.0,
    ) -> Any:
        """The answer of the first member that has one."""
        until = time.monotonic() + self._timeouts.cluster
        is_fresh = False
        tried, reason = 0, ""
        while True:
            number = self._chosen
            try:
                return self._ask(
                    number, method, request, response, is_stream=is_stream, seconds=seconds
                )
            except grpc.RpcError as error:
                code, text = error.code(), error.details() or error.code().name
                if code is grpc.StatusCode.UNAUTHENTICATED and self._address.user and not is_fresh:
                    # A token ends after minutes, and with the member that gave it.
                    is_fresh, self._token = True, ""
                    continue
                if code not in _UNANSWERED:
                    raise StoreError(f"store {self._address}: {text}; {_remedy(code)}") from None
                reason = f"{self._address.members[number]}: {text.splitlines()[0]}"
            tried += 1
            with self._lock:
                if self._chosen == number:
                    self._chosen = (number + 1) % len(self._channels)
            if time.monotonic() >= until or (seconds and tried >= len(self._channels)):
                raise UnansweredError(
                    f"store {self._address}: no majority of its members answers ({reason}); check"
                    " etcd, then run srv6net resume"
                )
            if tried % len(self._channels) == 0:
                time.sleep(0.2)

    def _ask(
        self,
        number: int,
        method: str,
        request: Any,
        response: Any,
        *,
        is_stream: bool,
        seconds: float,
    ) -> Any:
        channel = self._channels[number]
        metadata: tuple[tuple[str, str], ...] = (_NEEDS_LEADER,)
        timeout = seconds or self._timeouts.member
        if self._address.user:
            metadata += (("token", self._token or self._authenticated(channel)),)
        coding = {
            "request_serializer": type(request).SerializeToString,
            "response_deserializer": response.FromString,
        }
        if is_stream:
            stream = channel.stream_stream(method, **coding)
            answers = stream(iter([request]), timeout=timeout, metadata=metadata)
            try:
                return next(answers)
            finally:
                answers.cancel()
        return channel.unary_unary(method, **coding)(request, timeout=timeout, metadata=metadata)

    def _authenticated(self, channel: Any) -> str:
        password = _content(self._address.password_file) or b""
        request = message("AuthenticateRequest")(
            name=self._address.user, password=password.decode().strip()
        )
        call = channel.unary_unary(
            _AUTHENTICATE,
            request_serializer=type(request).SerializeToString,
            response_deserializer=message("AuthenticateResponse").FromString,
        )
        self._token = str(call(request, timeout=self._timeouts.member).token)
        return self._token


def put(key: str, value: str | bytes) -> Any:
    made = value.encode() if isinstance(value, str) else value
    request = message("PutRequest")(key=key.encode(), value=made)
    return message("RequestOp")(request_put=request)


def delete_below(prefix: str) -> Any:
    request = message("DeleteRangeRequest")(key=prefix.encode(), range_end=_end(prefix))
    return message("RequestOp")(request_delete_range=request)


def _end(prefix: str) -> bytes:
    """The first key behind all that begin with the prefix, which ends with a character of ASCII."""
    start = prefix.encode()
    return start[:-1] + bytes([start[-1] + 1])


def _value(found: Any) -> Value:
    return Value(found.key.decode(), found.value, found.mod_revision)


def _credentials(address: EtcdAddress) -> Any:
    if not address.is_encrypted:
        return None
    return grpc.ssl_channel_credentials(
        _content(address.ca), _content(address.key), _content(address.cert)
    )


def _content(path: str) -> bytes | None:
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise StoreError(
            f"store: {path} cannot be read ({error.strerror}); correct --store or the file"
        ) from None


def _remedy(code: Any) -> str:
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return "raise its quota, or compact and defragment it"
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INVALID_ARGUMENT):
        return "correct user and password-file"
    if code is grpc.StatusCode.PERMISSION_DENIED:
        return "give this user readwrite on the prefix"
    return "see its log"
