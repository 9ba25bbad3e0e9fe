"""The caller of an RPC and the author of a change, as their northbound names them to sysrepo."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from typing import Any

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.history import Origin

_CALLER: ContextVar[Origin | None] = ContextVar("caller", default=None)


def user() -> str:
    """The user that calls the RPC which this task answers; empty: none was named."""
    origin = _CALLER.get()
    return "" if origin is None else origin.user


def address() -> str:
    """The address of its client; empty: of this machine, or not known."""
    origin = _CALLER.get()
    return "" if origin is None else origin.address


@cache
def follow() -> None:
    """Make the caller of each RPC known to the task that answers it.

    The binding keeps the session of an RPC to itself; only NETCONF's layout of the originator's
    data comes with ``extra_info``.
    """
    import _sysrepo
    from sysrepo.session import SysrepoSession
    from sysrepo.subscription import rpc_callback

    def called(session: Any, *event: Any) -> Any:
        # A task copies the context that it is created in.
        token = _CALLER.set(origin_of(SysrepoSession(session, True)))
        try:
            return rpc_callback(session, *event)
        finally:
            _CALLER.reset(token)

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
