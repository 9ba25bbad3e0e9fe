"""The RPC that a task answers: its caller, and what it fails with. The author of a change, as its
northbound names it to sysrepo."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.error_info import ErrorInfo, set_error_infos
from srv6mgrd.datastore.history import Origin


@dataclass(slots=True)
class _Call:
    origin: Origin
    errors: Sequence[ErrorInfo] = field(default=())


_CALL: ContextVar[_Call | None] = ContextVar("call", default=None)


def user() -> str:
    """The user that calls the RPC which this task answers; empty: none was named."""
    call = _CALL.get()
    return "" if call is None else call.origin.user


def address() -> str:
    """The address of its client; empty: of this machine, or not known."""
    call = _CALL.get()
    return "" if call is None else call.origin.address


def failure(errors: Sequence[ErrorInfo]) -> Exception:
    """The exception that ends this call with these errors."""
    from sysrepo import SysrepoError

    call = _CALL.get()
    assert call is not None
    call.errors = errors
    # With a message the binding would set an error of its own, which has neither tag nor path.
    error: Exception = SysrepoError.new("", errors[0].code)
    return error


@cache
def follow() -> None:
    """Make each RPC known to the task that answers it.

    The binding keeps the session of an RPC to itself; only NETCONF's layout of the originator's
    data comes with ``extra_info``.
    """
    import _sysrepo
    from sysrepo.session import SysrepoSession
    from sysrepo.subscription import rpc_callback

    # Those that a task answers: sysrepo calls again when it is done.
    shelved: dict[tuple[int, int], _Call] = {}

    def called(session: Any, *event: Any) -> Any:
        subscription, _path, _given, _kind, request, *_ = event
        implicit, key = SysrepoSession(session, True), (subscription, request)
        call = shelved.pop(key, None) or _Call(origin_of(implicit))
        # A task copies the context that it is created in.
        token = _CALL.set(call)
        try:
            code = rpc_callback(session, *event)
        finally:
            _CALL.reset(token)
        if code == _sysrepo.lib.SR_ERR_CALLBACK_SHELVE:
            shelved[key] = call
        elif code and call.errors:
            set_error_infos(implicit, call.errors)
        return code

    _sysrepo.ffi.def_extern(name="srpy_rpc_tree_cb")(called)


def origin_of(session: Any) -> Origin:
    """The originator's name, then as its data the user, the token of the confirmed commit and the
    client's address.

    sysrepo wants NETCONF's layout to be that of netopeer2, which has its session id first. Behind
    the user, there are the northbound's own name, the token and the address.
    """
    northbound = session.get_originator_name() or "sysrepo"
    if northbound == "netopeer2":
        given = _text(ffi.originator_data(session, 1)).split("\0")
        user, own, token, address, *_ = [*given, "", "", ""]
        return Origin(own or northbound, user, token, address)
    user, token, address = (_text(ffi.originator_data(session, n)) for n in (0, 1, 2))
    return Origin(northbound, user, token, address)


def _text(data: bytes | None) -> str:
    return (data or b"").rstrip(b"\0").decode(errors="replace")
