"""What settings of a daemon that listens have to be, whatever it serves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from srv6mgrd.clients.addresses import is_local
from srv6mgrd.clients.certificates import NAME_TYPES
from srv6mgrd.settings import SettingsError


class Listening(Protocol):
    """Settings of srv6-gnmid and srv6-metricsd."""

    @property
    def certificate(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def plaintext(self) -> Iterable[str]: ...

    @property
    def certificate_names(self) -> Iterable[str]: ...


def check(config: Listening, where: str) -> None:
    """Raises SettingsError."""
    if bool(config.certificate) != bool(config.key):
        raise SettingsError(f"{where}: certificate and key belong together; name both or none")
    for address in config.plaintext:
        # gnmi-specification.md 3.1: no fallback to unencrypted sessions over a network.
        if not is_local(address):
            raise SettingsError(
                f"{where}: plaintext {address} is no UNIX socket or loopback address; move it to"
                " listen"
            )
    for name in config.certificate_names:
        if name not in NAME_TYPES:
            raise SettingsError(
                f"{where}: certificate_names: {name} is unknown; known are {', '.join(NAME_TYPES)}"
            )
