"""Who may read metrics: users with a password, names in certificates, users of the UNIX socket."""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Collection, Sequence

from srv6mgrd.clients.certificates import AuthContext, Certificates
from srv6mgrd.clients.denied import NotAuthenticatedError
from srv6mgrd.clients.passwords import Passwords
from srv6mgrd.clients.peer import Peer

_NOBODY = (
    "user: none given; send a user and a password (HTTP Basic), or show a certificate that"
    " client_ca signed"
)


class NoReaderError(Exception):
    """The client is known, and may not read."""


class Access:
    """Whom a request is from. A client without credentials is rejected."""

    def __init__(
        self,
        passwords: Passwords,
        certificates: Certificates | None = None,
        readers: Collection[str] = (),
        *,
        anonymous: bool = False,
    ) -> None:
        self._passwords = passwords
        self._certificates = certificates
        self._readers = frozenset(readers)
        self._anonymous = anonymous

    async def check(self, authorization: str, shown: AuthContext, peer: Peer) -> None:
        """Raises NotAuthenticatedError, ThrottledError or NoReaderError unless the client may read.
        ``authorization`` is the header of that name."""
        certified = None if self._certificates is None else self._certificates.user(shown)
        if authorization:
            user, password = credentials(authorization)
            await self._passwords.check(user, password, peer)
            return
        if certified is not None:
            if certified not in self._readers:
                raise NoReaderError(f"user {certified}: may not read; add it to readers")
            return
        # The mode of the socket says who may connect.
        if peer.uid is None and not self._anonymous:
            raise NotAuthenticatedError(_NOBODY)


def credentials(authorization: str) -> tuple[str, str]:
    """User and password of a header (RFC 7617). Raises NotAuthenticatedError."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError
        user, colon, password = (
            base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
        )
    except (ValueError, binascii.Error):
        raise NotAuthenticatedError("Authorization: not of the scheme Basic; correct it") from None
    if not colon:
        raise NotAuthenticatedError("Authorization: has no password; send user:password")
    return user, password


def shown(chain: Sequence[bytes]) -> AuthContext:
    """Certificates (DER) that a client shows, its own first, as ``Certificates`` takes them."""
    texts = [ssl.DER_cert_to_PEM_cert(one).encode() for one in chain]
    return {"x509_pem_cert": texts[:1], "x509_pem_cert_chain": texts[1:]}
