"""Settings of srv6mgrd: /etc/srv6mgr/srv6mgrd.toml, every one with a default."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

DEFAULT_PATH = Path("/etc/srv6mgr/srv6mgrd.toml")


class SettingsError(Exception):
    """The settings file can't be used; the message names file, setting and remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Times in seconds."""

    runtime_directory: str = "/run/srv6mgr"
    state_directory: str = "/var/lib/srv6mgr"
    frr_directory: str = "/run/frr"
    # Empty: no SONiC tables are written.
    redis_socket: str = "/run/redis/redis.sock"
    sample_interval: float = 1.0
    compare_interval: float = 30.0
    # How often the kernel is tried out again.
    probe_interval: float = 600.0
    # What is committed for good becomes the startup configuration, too.
    save_startup: bool = True
    log_level: str = "info"


def load(path: Path | None) -> Settings:
    """Settings of a file; without ``path`` those of the default file if it is there.

    Raises SettingsError."""
    file = path or DEFAULT_PATH
    try:
        values = tomllib.loads(file.read_text())
    except FileNotFoundError:
        if path is None:
            return Settings()
        raise SettingsError(f"{file}: absent; create it or leave out --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: {error}; correct this line") from None
    known = {f.name: f.default for f in fields(Settings)}
    for name, value in values.items():
        if name not in known:
            raise SettingsError(f"{file}: {name} is unknown; known are {', '.join(sorted(known))}")
        wanted = type(known[name])
        if not isinstance(value, wanted) and not (wanted is float and isinstance(value, int)):
            raise SettingsError(f"{file}: {name} = {value!r} is no {wanted.__name__}; correct it")
    return Settings(**values)
