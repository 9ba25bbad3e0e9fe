"""Settings of the daemons that speak Redis: /etc/srv6mgr/<daemon>.toml, all with a default."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from srv6mgrd.redis import wire
from srv6mgrd.redis.sonic_database import DatabaseConfigError, socket_of

DEFAULT_PATH = Path("/etc/srv6mgr/srv6mgrd.toml")
MODES = ("standalone", "sonic")


class SettingsError(Exception):
    """The settings file can't be used; the message names file, setting and remedy."""


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """Settings that all of them have: the runtime directory, and the connection to Redis."""

    # Directory of the store, sockets and locks.
    runtime_directory: str = "/run/srv6mgr"
    # debug, info, warning or error.
    log_level: str = "info"
    # UNIX socket of Redis; takes precedence over redis_host. Without both, there is no Redis.
    redis_socket: str = "/run/redis/redis.sock"
    # Host of Redis, over TCP.
    redis_host: str = ""
    # SONiC's database_config.json, which has the socket of Redis; takes precedence over
    # redis_socket and redis_host.
    sonic_database_config: str = ""
    # Namespace of an ASIC, by the database_global.json beside it; empty: the only one.
    sonic_namespace: str = ""
    # TCP port of Redis.
    redis_port: int = 6379
    # User of Redis; empty: the default user.
    redis_username: str = ""
    # File that contains only the password; only the daemon should be able to read it.
    redis_password_file: str = ""
    # TLS over TCP; the certificate of the server is checked.
    redis_tls: bool = False
    # PEM file of the authority; empty: the authorities of the system.
    redis_tls_ca: str = ""
    # PEM file of the client certificate.
    redis_tls_certificate: str = ""
    # PEM file of its key.
    redis_tls_key: str = ""

    @property
    def has_redis(self) -> bool:
        return bool(self.sonic_database_config or self.redis_socket or self.redis_host)

    def redis(self) -> wire.Settings:
        """Raises SettingsError."""
        return wire.Settings(
            socket=self._socket() or None,
            host=self.redis_host,
            port=self.redis_port,
            username=self.redis_username or None,
            password=_secret(self.redis_password_file),
            tls=self.redis_tls,
            tls_ca=self.redis_tls_ca or None,
            tls_certificate=self.redis_tls_certificate or None,
            tls_key=self.redis_tls_key or None,
        )

    def _socket(self) -> str:
        if not self.sonic_database_config:
            return self.redis_socket
        try:
            return socket_of(Path(self.sonic_database_config), self.sonic_namespace)
        except DatabaseConfigError as error:
            raise SettingsError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Settings(DaemonSettings):
    """Settings of srv6mgrd. Times in seconds."""

    # Directory of the journal, the history and the alarm list.
    state_directory: str = "/var/lib/srv6mgr"
    # Directory of the vty sockets of FRR.
    frr_directory: str = "/run/frr"
    # "standalone", or "sonic" to run beside vrfmgrd, which creates the VRFs, and orchagent.
    mode: str = "standalone"
    # Time between two samples of the counters.
    sample_interval: float = 1.0
    # Time between two comparisons without an event.
    compare_interval: float = 30.0
    # Time between two probes of the kernel.
    probe_interval: float = 600.0
    # Readers see every status as unknown if srv6mgrd has not reported for this long.
    status_lease: float = 10.0
    # Save permanent commits as the startup configuration.
    save_startup: bool = True


def load(path: Path | None) -> Settings:
    """Settings of a file; without ``path`` those of the default file if it is there.

    Raises SettingsError."""
    found = read(Settings, path, DEFAULT_PATH)
    if found.mode not in MODES:
        raise SettingsError(
            f"{path or DEFAULT_PATH}: mode = {found.mode!r} is unknown; write one of"
            f" {', '.join(MODES)}"
        )
    return found


Some = TypeVar("Some", bound=DaemonSettings)


def table(path: Path | None, default: Path) -> dict[str, Any]:
    """What a file says; without ``path`` what the default file says, which may be absent.

    Raises SettingsError."""
    file = path or default
    try:
        return tomllib.loads(file.read_text())
    except FileNotFoundError:
        if path is None:
            return {}
        raise SettingsError(f"{file}: absent; create it or leave out --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: {error}; correct this line") from None


def read(kind: type[Some], path: Path | None, default: Path) -> Some:
    """Settings of this kind. Raises SettingsError."""
    file, values = path or default, table(path, default)
    known = {f.name: f.default for f in fields(kind)}
    for name, value in values.items():
        if name not in known:
            raise SettingsError(f"{file}: {name} is unknown; known are {', '.join(sorted(known))}")
        wanted = type(known[name])
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise SettingsError(f"{file}: {name} = {value!r} is no {wanted.__name__}; correct it")
    return kind(**values)


def typed(kind: type[Any], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Arguments for a dataclass whose fields have defaults, of their types; lists become tuples.
    Numbers are greater than 0. Raises SettingsError."""
    defaults, found = kind(), {}
    known = {field.name for field in fields(kind)}
    for name, value in values.items():
        if name not in known:
            listed = ", ".join(field.name for field in fields(kind))
            raise SettingsError(f"{where}: {name} is unknown; known are {listed}")
        default = getattr(defaults, name)
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
        found[name] = value
    return found


def _secret(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"redis_password_file {path}: can't be read ({error}); correct it, or leave it out"
        ) from None
