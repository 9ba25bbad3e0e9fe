"""Who calls."""

from __future__ import annotations

import threading

import pytest
from grpc import StatusCode

from srv6mgrd.clients.passwords import Passwords
from srv6mgrd.clients.peer import Peer
from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.rpc import identified_by
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.name_service import system_users


async def test_a_connection_is_reported_to_be_authenticated_once() -> None:
    """Not with each RPC: who hears of it is another process."""
    reported: list[int] = []
    passwords = Passwords({})
    access = Access(passwords, anonymous="guest", authenticated=reported.append)
    for connection in (1, 1, 2, 1):
        assert await access.check((), peer=Peer(connection=connection)) == "guest"
    passwords.close()
    assert reported == [1, 2]


async def test_a_user_whom_the_system_does_not_name_in_time_may_try_again() -> None:
    hang = threading.Event()
    passwords = Passwords({})
    access = Access(passwords, users=system_users(lambda _: str(hang.wait()), timeout=0.1))

    async def know(user: str) -> None:
        raise AssertionError(user)

    with pytest.raises(RpcError) as error:
        await identified_by(access, know)(Local(1000))
    assert error.value.code is StatusCode.UNAVAILABLE
    assert error.value.text.startswith("uid 1000: name: no answer within 0.1 s; try again, or see")
    hang.set()
    passwords.close()


async def test_a_user_whose_groups_are_unknown_may_try_again() -> None:
    passwords = Passwords({})
    access = Access(passwords, users=system_users(lambda _: "bob"))

    async def know(user: str) -> None:
        raise NoAnswerError(f"user {user}: groups: no answer")

    with pytest.raises(RpcError) as error:
        await identified_by(access, know)(Local(1000))
    assert (error.value.code, error.value.text) == (
        StatusCode.UNAVAILABLE,
        "user bob: groups: no answer",
    )
    passwords.close()


class Local:
    """The context of an RPC that comes over a UNIX socket."""

    def __init__(self, uid: int) -> None:
        self._uid = uid

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    def auth_context(self) -> dict[str, list[bytes]]:
        return {}

    def peer(self) -> str:
        return f"unix:/run/1,,,{self._uid}"
