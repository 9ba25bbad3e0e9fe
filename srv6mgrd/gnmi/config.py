"""Settings of srv6-gnmid: ``/etc/srv6mgr/gnmid.toml``, with defaults that are safe."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from srv6mgrd.settings import SettingsError, table

DEFAULT_FILE = Path("/etc/srv6mgr/gnmid.toml")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; every one has a default. Addresses are ``host:port`` or ``unix:/path``.

    ``listen``       addresses with TLS
    ``plaintext``    addresses without: a UNIX socket or loopback only
    ``certificate``, ``key``   PEM files; both absent: a self-signed one is made
    ``client_ca``    PEM file: clients must show a certificate that it signed
    ``anonymous``    serve clients without credentials on an address that is not loopback
    ``anonymous_user``   the NACM user that a client without credentials counts as; empty: such
                     a client is under no rules
    ``users``        name -> scrypt hash (``srv6-gnmid --hash-password``)
    ``models``       modules that are served, shell patterns
    ``counter_interval``  seconds between samples that TARGET_DEFINED sends
    ``max_connections``, ``max_streams``   open at once: connections, RPCs on each of them
    ``max_subscribers``   Subscribe RPCs at once, of all clients together
    ``max_message``  MiB of one request
    ``keepalive``    seconds between pings on a connection; a client that doesn't answer is gone
    ``log_level``    debug, info, warning or error
    """

    listen: tuple[str, ...] = ("127.0.0.1:9339", "[::1]:9339")
    plaintext: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""
    client_ca: str = ""
    anonymous: bool = False
    anonymous_user: str = ""
    users: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ("srv6mgr-*",)
    store: str = "/run/srv6mgr/store"
    state_directory: str = "/var/lib/srv6mgr/gnmid"
    counter_interval: float = 5.0
    max_connections: int = 100
    max_streams: int = 100
    max_subscribers: int = 1000
    # 100k SIDs in one Set or Get are 20 MB; gRPC's own default is 4 MB.
    max_message: int = 64
    keepalive: float = 30.0
    log_level: str = "info"


def load(path: Path | None, default: Path = DEFAULT_FILE) -> Config:
    """Settings from a file; without ``path`` those of the default file if it is there.

    Raises SettingsError."""
    return parse(table(path, default), str(path or default))


def parse(settings: Mapping[str, Any], where: str = "settings") -> Config:
    """Settings from a TOML table."""
    known = {f.name: f for f in fields(Config)}
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in known:
            raise SettingsError(f"{where}: {name} is unknown; known are {', '.join(known)}")
        default = getattr(Config(), name)
        if isinstance(default, tuple):
            ok = isinstance(value, list) and all(isinstance(v, str) for v in value)
            value = tuple(value) if ok else value
        elif isinstance(default, dict):
            ok = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        elif isinstance(default, int) and not isinstance(default, bool):
            ok = isinstance(value, int) and not isinstance(value, bool) and value > 0
        elif isinstance(default, float):
            ok = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        else:
            ok = isinstance(value, type(default))
        if not ok:
            raise SettingsError(f"{where}: {name} can't be {value!r}; see the manual")
        values[name] = value
    config = Config(**values)
    _check(config, where)
    return config


def _check(config: Config, where: str) -> None:
    if bool(config.certificate) != bool(config.key):
        raise SettingsError(f"{where}: certificate and key belong together; name both or none")
    for address in config.plaintext:
        # gnmi-specification.md 3.1: no fallback to unencrypted sessions over a network.
        if not is_local(address):
            raise SettingsError(
                f"{where}: plaintext {address} is no UNIX socket or loopback address; move it to"
                " listen"
            )
    if config.anonymous or config.client_ca or config.users:
        return
    for address in config.listen:
        if not is_local(address):
            raise SettingsError(
                f"{where}: listen {address} is open to a network without credentials; set"
                " client_ca or users (or anonymous = true)"
            )


def is_local(address: str) -> bool:
    """Whether only this machine can reach an address."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
