"""Settings of srv6-gnmid: ``/etc/srv6mgr/gnmid.toml``, with defaults that are safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from srv6mgrd.clients import listening
from srv6mgrd.clients.addresses import is_local
from srv6mgrd.settings import SettingsError, table, typed

DEFAULT_FILE = Path("/etc/srv6mgr/gnmid.toml")


@dataclass(frozen=True, slots=True)
class Config:
    """Settings; every one has a default. Addresses are ``host:port`` or ``unix:/path``.

    ``listen``       addresses with TLS
    ``plaintext``    addresses without: a UNIX socket or loopback only. On a socket the kernel says
                     which user of the system a client is
    ``socket_group`` the group of the system that may connect to these sockets, beside root
    ``certificate``, ``key``   PEM files; both absent: a self-signed one is made
    ``client_ca``    PEM file: clients must show a certificate that it signed
    ``certificate_names``   where in a certificate the user's name is, in this order, in the terms
                     of RFC 7407: common-name, san-rfc822-name, san-dns-name; and san-uri
    ``crl``          PEM file: revoked certificates, a list of each authority
    ``users``        name -> scrypt hash (``srv6-gnmid --hash-password``), or ``pam``
    ``pam``          PAM service that checks passwords of all users but root; empty: none
    ``anonymous``    serve clients without credentials on an address that is not loopback
    ``anonymous_user``   the NACM user that a client without credentials counts as; empty: such
                     a client is rejected
    ``models``       modules that are served, shell patterns
    ``counter_interval``  seconds between samples that TARGET_DEFINED sends
    ``max_connections``, ``max_connections_per_peer``, ``max_streams``   open at once: connections,
                     those of one address, IPv6 /64 or local user, RPCs on each of them
    ``authentication_timeout``   seconds until a client has to have said who it is
    ``max_subscribers``   Subscribe RPCs at once, of all clients together
    ``max_message``  MiB of one request
    ``request_seconds``   a Get, a Capabilities, or the beginning of a Subscribe takes no longer
    ``keepalive``    seconds between pings on a connection; a client that doesn't answer is gone
    ``tunnel_servers``   tunnel servers (openconfig/grpctunnel) that are dialed, ``host:port``:
                     gNMI is served through the tunnels to clients that authenticate as on
                     ``listen``
    ``tunnel_target``    the name that this router registers; empty: its host name
    ``tunnel_ca``    PEM file: the authority that signed the certificates of the tunnel servers
    ``tunnel_certificate``, ``tunnel_key``   PEM files that this router shows to them; both absent:
                     none
    ``max_tunnel_sessions``   connections that come through tunnels, at once
    ``log_level``    debug, info, warning or error
    """

    listen: tuple[str, ...] = ("127.0.0.1:9339", "[::1]:9339")
    plaintext: tuple[str, ...] = ("unix:/run/srv6mgr/gnmi.sock",)
    socket_group: str = "srv6mgr"
    certificate: str = ""
    key: str = ""
    client_ca: str = ""
    certificate_names: tuple[str, ...] = ("common-name",)
    crl: str = ""
    users: Mapping[str, str] = field(default_factory=dict)
    pam: str = ""
    anonymous: bool = False
    anonymous_user: str = ""
    models: tuple[str, ...] = ("srv6mgr-*", "ietf-alarms")
    store: str = "/run/srv6mgr/store"
    state_directory: str = "/var/lib/srv6mgr/gnmid"
    counter_interval: float = 5.0
    max_connections: int = 100
    max_connections_per_peer: int = 40
    authentication_timeout: float = 20.0
    max_streams: int = 100
    max_subscribers: int = 1000
    # 100k SIDs in one Set or Get are 20 MB; gRPC's own default is 4 MB.
    max_message: int = 64
    request_seconds: float = 60.0
    keepalive: float = 30.0
    tunnel_servers: tuple[str, ...] = ()
    tunnel_target: str = ""
    tunnel_ca: str = ""
    tunnel_certificate: str = ""
    tunnel_key: str = ""
    max_tunnel_sessions: int = 20
    log_level: str = "info"


def load(path: Path | None, default: Path = DEFAULT_FILE) -> Config:
    """Settings from a file; without ``path`` those of the default file if it is there.

    Raises SettingsError."""
    return parse(table(path, default), str(path or default))


def parse(settings: Mapping[str, Any], where: str = "settings") -> Config:
    """Settings from a TOML table."""
    config = Config(**typed(Config, settings, where))
    _check(config, where)
    return config


def _check(config: Config, where: str) -> None:
    listening.check(config, where)
    _check_tunnels(config, where)
    for user, how in config.users.items():
        if how == "pam" and not config.pam:
            raise SettingsError(f"{where}: users: {user} needs the setting pam; name a service")
    if config.crl and not config.client_ca:
        raise SettingsError(f"{where}: crl needs client_ca, whose certificates it revokes; set it")
    if config.anonymous_user == "root":
        # RFC 8341 section 2.4: no rule would hold for them.
        raise SettingsError(f"{where}: anonymous_user can't be root; choose another name")
    if config.anonymous and not config.anonymous_user:
        raise SettingsError(f"{where}: anonymous needs anonymous_user, for NACM's rules; set it")
    if config.anonymous or config.client_ca or config.users or config.pam:
        return
    entrances = [f"listen {address}" for address in config.listen if not is_local(address)]
    entrances += [f"tunnel_servers {server}" for server in config.tunnel_servers]
    if entrances:
        raise SettingsError(
            f"{where}: {entrances[0]} is open to a network without credentials; set"
            " client_ca, users or pam (or anonymous = true)"
        )


def _check_tunnels(config: Config, where: str) -> None:
    for server in config.tunnel_servers:
        host, _, port = server.rpartition(":")
        if not host or not port.isdigit():
            raise SettingsError(f"{where}: tunnel_servers {server} is no host:port; correct it")
    if bool(config.tunnel_certificate) != bool(config.tunnel_key):
        raise SettingsError(
            f"{where}: tunnel_certificate and tunnel_key belong together; name both or none"
        )
    if config.tunnel_servers and not config.tunnel_ca:
        raise SettingsError(
            f"{where}: tunnel_servers needs tunnel_ca, which signed their certificates; set it"
        )
