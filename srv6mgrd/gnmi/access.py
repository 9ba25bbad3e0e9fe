"""Who calls: certificate, or username and password metadata (gnmi-specification.md 3.1)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping, Sequence

from grpc import StatusCode

from srv6mgrd.gnmi.failure import RpcError

_N, _R, _P = 1 << 14, 8, 1


def hash_password(password: str) -> str:
    """The form that the setting ``users`` takes."""
    salt = os.urandom(16)
    return f"scrypt${base64.b64encode(salt).decode()}${_derive(password, salt)}"


def _derive(password: str, salt: bytes) -> str:
    derived = hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P)
    return base64.b64encode(derived).decode()


def _matches(password: str, stored: str) -> bool:
    kind, _, rest = stored.partition("$")
    salt, _, wanted = rest.partition("$")
    if kind != "scrypt":
        return False
    return hmac.compare_digest(_derive(password, base64.b64decode(salt)), wanted)


class Access:
    """Checks credentials; a password that was right is remembered by its digest."""

    def __init__(
        self, users: Mapping[str, str], *, required: bool, anonymous: str | None = None
    ) -> None:
        """``required``: nothing else says who a client is. ``anonymous``: the user that a client
        without a name counts as."""
        self._users = users
        self._required = required
        self._anonymous = anonymous
        self._seen: set[bytes] = set()

    def check(
        self, metadata: Sequence[tuple[str, str | bytes]], certified: str | None = None
    ) -> str | None:
        """The user's name, None for a client without one; RpcError when it may not.

        ``certified`` is the name in the client's certificate, which TLS has verified.
        """
        given = {k.lower(): v for k, v in metadata}
        user, password = given.get("username"), given.get("password")
        if not user:  # pygnmi sends an empty name for none
            if certified:
                return certified
            if self._required:
                raise RpcError(
                    StatusCode.UNAUTHENTICATED,
                    "user: none given; send username and password as metadata",
                )
            return self._anonymous
        user = _text(user)
        if password is None:
            # 3.1: a name alone is to be authorised; it proves nothing but what TLS proved.
            if user != certified:
                raise RpcError(
                    StatusCode.PERMISSION_DENIED,
                    f"user {user}: not authorised; send a password, or the certificate of {user}",
                )
            return user
        if not self._verify(user, _text(password)):
            raise RpcError(
                StatusCode.UNAUTHENTICATED, f"user {user}: unknown, or the password is wrong"
            )
        return user

    def _verify(self, user: str, password: str) -> bool:
        stored = self._users.get(user)
        if stored is None:
            return False
        # scrypt takes 50 ms by design; a collector sends its password with every RPC.
        digest = hashlib.sha256(f"{stored}\0{password}".encode()).digest()
        if digest in self._seen:
            return True
        if not _matches(password, stored):
            return False
        self._seen.add(digest)
        return True


def certified(auth_context: Mapping[str, Iterable[bytes]]) -> str | None:
    """The name in a client's certificate: its common name; None without certificate."""
    for name in auth_context.get("x509_common_name", ()):
        if text := _text(name):
            return text
    return None


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
