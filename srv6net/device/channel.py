"""The gRPC channel to a router, with the credentials that the inventory names for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc

from srv6net.intent.inventory import Endpoint
from srv6net.transaction.ports import DeviceError

# A router with 100,000 SIDs has a configuration of 20 MB.
_LONGEST = 256 << 20
# Found out about when a router vanished without a word, while no request is on its way.
_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", _LONGEST),
    ("grpc.max_send_message_length", _LONGEST),
    ("grpc.use_local_subchannel_pool", 1),
)


def opened(endpoint: Endpoint) -> Any:
    """A channel, which connects with its first request; DeviceError without its credentials."""
    if endpoint.address.startswith("unix:"):
        # The kernel says who connects; there is nothing to encrypt.
        return grpc.insecure_channel(endpoint.address, options=_OPTIONS)
    tls = endpoint.tls
    credentials = grpc.ssl_channel_credentials(
        _content(tls.ca), _content(tls.key), _content(tls.certificate)
    )
    name = [("grpc.ssl_target_name_override", tls.server_name)] if tls.server_name else []
    return grpc.secure_channel(endpoint.address, credentials, options=[*_OPTIONS, *name])


def metadata(endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
    """User and password (gnmi-authentication.md); none where the certificate says who it is."""
    if not endpoint.username:
        return ()
    password = (_content(endpoint.password_file) or b"").decode().strip()
    return (("username", endpoint.username), ("password", password))


def _content(path: str) -> bytes | None:
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DeviceError(
            f"{path} cannot be read: {error.strerror}; correct the inventory or the file"
        ) from None
