"""Who calls."""

from __future__ import annotations

from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.listener.peer import Peer
from srv6mgrd.gnmi.passwords import Passwords


async def test_a_connection_is_reported_to_be_authenticated_once() -> None:
    """Not with each RPC: who hears of it is another process."""
    reported: list[int] = []
    passwords = Passwords({})
    access = Access(passwords, anonymous="guest", authenticated=reported.append)
    for connection in (1, 1, 2, 1):
        assert await access.check((), peer=Peer(connection=connection)) == "guest"
    passwords.close()
    assert reported == [1, 2]
