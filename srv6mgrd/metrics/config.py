"""Settings of srv6-metricsd: ``/etc/srv6mgr/srv6-metricsd.toml``. By default it serves nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srv6mgrd.clients import listening
from srv6mgrd.settings import SettingsError, table, typed

DEFAULT_FILE = Path("/etc/srv6mgr/srv6-metricsd.toml")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; every one has a default. Addresses are ``host:port`` or ``unix:/path``.

    ``listen``       addresses with TLS
    ``plaintext``    addresses without: a UNIX socket or loopback only
    ``socket_group`` the group of the system that may connect to these sockets, beside root
    ``certificate``, ``key``   PEM files; both absent: a self-signed one is made
    ``client_ca``    PEM file: clients must show a certificate that it signed
    ``certificate_names``   as of srv6-gnmid
    ``crl``          PEM file: revoked certificates, a list of each authority
    ``readers``      names in certificates that may read
    ``users``        name -> scrypt hash (``srv6-gnmid --hash-password``): those may read
    ``anonymous``    serve clients without credentials
    ``ipfix_collector``   ``host:port`` of a collector of IPFIX; empty: none
    ``ipfix_interval``    seconds between two exports
    ``ipfix_domain``      the observation domain
    ``runtime_directory``   that of srv6mgrd
    ``state_directory``     of the certificate that is made
    ``max_connections``, ``max_connections_per_peer``   open at once: all, and those of one address,
                     IPv6 /64 or local user
    ``authentication_timeout``   seconds until a client has to have said who it is
    ``request_seconds``   an answer takes no longer until the client has all of it
    ``idle_seconds`` a connection stays open so long without a request
    ``log_level``    debug, info, warning or error
    """

    listen: tuple[str, ...] = ("127.0.0.1:9439", "[::1]:9439")
    plaintext: tuple[str, ...] = ()
    socket_group: str = "srv6mgr"
    certificate: str = ""
    key: str = ""
    client_ca: str = ""
    certificate_names: tuple[str, ...] = ("common-name",)
    crl: str = ""
    readers: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict)
    anonymous: bool = False
    ipfix_collector: str = ""
    ipfix_interval: float = 60.0
    ipfix_domain: int = 1
    runtime_directory: str = "/run/srv6mgr"
    state_directory: str = "/var/lib/srv6mgr/metricsd"
    max_connections: int = 50
    max_connections_per_peer: int = 10
    authentication_timeout: float = 10.0
    request_seconds: float = 30.0
    idle_seconds: float = 300.0
    log_level: str = "info"


def load(path: Path | None, default: Path = DEFAULT_FILE) -> Config:
    """Settings from a file; without ``path`` those of the default file if it is there.

    Raises SettingsError."""
    return parse(table(path, default), str(path or default))


def parse(settings: Mapping[str, Any], where: str = "settings") -> Config:
    """Settings from a TOML table. Raises SettingsError."""
    config = Config(**typed(Config, settings, where))
    listening.check(config, where)
    for user, how in config.users.items():
        if not how.startswith("scrypt$"):
            raise SettingsError(
                f"{where}: users: {user} has no hash of a password; let srv6-gnmid --hash-password"
                " make one"
            )
    if config.crl and not config.client_ca:
        raise SettingsError(f"{where}: crl needs client_ca, whose certificates it revokes; set it")
    host, _, port = config.ipfix_collector.rpartition(":")
    if config.ipfix_collector and not (host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise SettingsError(
            f"{where}: ipfix_collector: {config.ipfix_collector} is no host:port; write"
            " collector:4739, say"
        )
    if config.ipfix_domain >= 1 << 32:
        raise SettingsError(f"{where}: ipfix_domain: it has 32 bits; choose a smaller one")
    if not (config.listen or config.plaintext or config.ipfix_collector):
        raise SettingsError(f"{where}: listen and plaintext are empty; name an address to serve")
    if config.readers and not config.client_ca:
        raise SettingsError(f"{where}: readers are names in certificates; set client_ca")
    return config
