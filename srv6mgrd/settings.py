"""Settings of the daemons that speak Redis: /etc/srv6mgr/<daemon>.toml, all with a default."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from srv6mgrd.redis import wire

DEFAULT_PATH = Path("/etc/srv6mgr/srv6mgrd.toml")
MODES = ("standalone", "sonic")


class SettingsError(Exception):
    """The settings file can't be used; the message names file, setting and remedy."""


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """What each of them has: where it runs, where Redis is, and who it is there."""

    runtime_directory: str = "/run/srv6mgr"
    log_level: str = "info"
    # Goes before host; empty together with host: no Redis.
    redis_socket: str = "/run/redis/redis.sock"
    redis_host: str = ""
    redis_port: int = 6379
    redis_username: str = ""
    # Holds the password and nothing else; readable by the daemon alone.
    redis_password_file: str = ""
    redis_tls: bool = False
    # PEM files: of the authority (else the system's), of our certificate and its key.
    redis_tls_ca: str = ""
    redis_tls_certificate: str = ""
    redis_tls_key: str = ""

    @property
    def has_redis(self) -> bool:
        return bool(self.redis_socket or self.redis_host)

    def redis(self) -> wire.Settings:
        """Raises SettingsError."""
        return wire.Settings(
            socket=self.redis_socket or None,
            host=self.redis_host,
            port=self.redis_port,
            username=self.redis_username or None,
            password=_secret(self.redis_password_file),
            tls=self.redis_tls,
            tls_ca=self.redis_tls_ca or None,
            tls_certificate=self.redis_tls_certificate or None,
            tls_key=self.redis_tls_key or None,
        )


@dataclass(frozen=True, slots=True)
class Settings(DaemonSettings):
    """srv6mgrd's. Times in seconds."""

    state_directory: str = "/var/lib/srv6mgr"
    frr_directory: str = "/run/frr"
    # "standalone", or "sonic": beside vrfmgrd, which makes the VRFs, and orchagent, which is fed.
    mode: str = "standalone"
    sample_interval: float = 1.0
    compare_interval: float = 30.0
    # How often the kernel is tried out again.
    probe_interval: float = 600.0
    # Once srv6mgrd has not reported for so long, readers see every status as unknown.
    status_lease: float = 10.0
    # What is committed for good becomes the startup configuration, too.
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


def _secret(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"redis_password_file {path}: can't be read ({error}); correct it, or leave it out"
        ) from None
