"""Who calls: certificate, password metadata (gnmi-specification.md 3.1), or user of the system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from grpc import StatusCode

from srv6mgrd.clients.certificates import AuthContext, Certificates
from srv6mgrd.clients.denied import NotAuthenticatedError, ThrottledError
from srv6mgrd.clients.passwords import Passwords
from srv6mgrd.clients.peer import Peer
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.name_service import Users, system_users

_NOTHING: AuthContext = {}
_MOST_LOCAL = 1000
_MOST_PROVED = 10_000


class Access:
    """Gives each RPC its user. A client without one is rejected."""

    def __init__(
        self,
        passwords: Passwords,
        certificates: Certificates | None = None,
        *,
        anonymous: str = "",
        authenticated: Callable[[int], None] = lambda _: None,
        users: Users | None = None,
    ) -> None:
        """``anonymous``: the user that a client without a name counts as; empty: none.
        ``authenticated`` hears of connections whose client is known. ``users``: the system's."""
        self._passwords = passwords
        self._certificates = certificates
        self._anonymous = anonymous
        self._authenticated = authenticated
        self._proved: set[int] = set()
        self._system = users or system_users()
        # By connection.
        self._users: dict[int, str] = {}

    async def check(
        self,
        metadata: Sequence[tuple[str, str | bytes]],
        auth_context: AuthContext = _NOTHING,
        peer: Peer | None = None,
    ) -> str:
        """The user's name; RpcError when there is none, or it is not proved, NoAnswerError when
        the system does not say."""
        peer = peer or Peer()
        with _as_status():
            user = await self._user(metadata, auth_context, peer)
        if peer.connection not in self._proved:
            # Once for a connection: it wakes another process.
            if len(self._proved) >= _MOST_PROVED:
                self._proved.clear()
            self._proved.add(peer.connection)
            self._authenticated(peer.connection)
        return user

    def certified(self, auth_context: AuthContext) -> str | None:
        """The user that the client's certificate names, None without one. RpcError when it is not
        valid any more."""
        with _as_status():
            return None if self._certificates is None else self._certificates.user(auth_context)

    async def _user(
        self,
        metadata: Sequence[tuple[str, str | bytes]],
        auth_context: AuthContext,
        peer: Peer,
    ) -> str:
        given = {k.lower(): v for k, v in metadata}
        user, password = _text(given.get("username")), given.get("password")
        certified = self.certified(auth_context)
        if user and password is not None:
            await self._passwords.check(user, _text(password), peer)
            return user
        proved = certified or await self._local(peer)
        if not user:  # pygnmi sends an empty name for none
            if proved or self._anonymous:
                return proved or self._anonymous
            raise RpcError(
                StatusCode.UNAUTHENTICATED,
                "user: none given; send username and password as metadata, show a certificate, or"
                " connect to the UNIX socket",
            )
        # 3.1: a name alone is to be authorised; it proves nothing but what was proved before.
        if user != proved:
            raise RpcError(
                StatusCode.PERMISSION_DENIED,
                f"user {user}: not authorised; send a password, or the certificate of {user}",
            )
        return user

    async def _local(self, peer: Peer) -> str:
        """The user at the other end of a UNIX socket, as the kernel reports; empty for others."""
        if peer.uid is None:
            return ""
        known = self._users.get(peer.connection)
        if known is None:
            # Where users come from a network this takes a while.
            known = await self._system.learn(peer.uid)
            if known is None:
                raise RpcError(
                    StatusCode.UNAUTHENTICATED,
                    f"uid {peer.uid}: this system has no such user; add it",
                )
            self._remember(peer.connection, known)
        return known

    def _remember(self, connection: int, user: str) -> None:
        if len(self._users) >= _MOST_LOCAL:
            self._users.clear()
        self._users[connection] = user


@contextmanager
def _as_status() -> Iterator[None]:
    try:
        yield
    except NotAuthenticatedError as error:
        raise RpcError(StatusCode.UNAUTHENTICATED, str(error)) from error
    except ThrottledError as error:
        raise RpcError(StatusCode.RESOURCE_EXHAUSTED, str(error)) from error


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
