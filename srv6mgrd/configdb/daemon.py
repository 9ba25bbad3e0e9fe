"""``srv6-configdbd``: wiring only."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from srv6mgrd import memory
from srv6mgrd import settings as settings_file
from srv6mgrd.alone import AlreadyRunningError, alone
from srv6mgrd.configdb.door import Door, Pace
from srv6mgrd.configdb.memory import Memory, UnreadableError
from srv6mgrd.configdb.source import connect
from srv6mgrd.configdb.writer import Writer
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.running import MODULE
from srv6mgrd.jobs import told_to_stop, until_one_ends
from srv6mgrd.settings import RedisSettings, SettingsError
from srv6mgrd.systemd import notify

_LOG = logging.getLogger("srv6-configdbd")
_NAME = "srv6-configdbd"
DEFAULT_PATH = Path("/etc/srv6mgr/srv6-configdbd.toml")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Settings(RedisSettings):
    """Times in seconds."""

    runtime_directory: str = "/run/srv6mgr/configdb"
    state_directory: str = "/var/lib/srv6mgr/configdb"
    # A row that is gone, though nobody heard of its removal, is taken for lost this long.
    removal_grace: float = 10.0
    compare_interval: float = 30.0
    log_level: str = "info"


async def _run(settings: Settings) -> None:
    loop, stop = asyncio.get_running_loop(), told_to_stop()
    connection = Connection(originator=_NAME)
    try:
        redis = settings.redis()
        state = Path(settings.state_directory)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        door = Door(
            lambda: connect(redis, _NAME),
            Writer(connection),
            Memory(state / "objects.json", _BOOT.read_text().strip()),
            Pace(grace=settings.removal_grace, compare=settings.compare_interval),
        )

        def changed(_: str) -> None:
            loop.call_soon_threadsafe(door.stir)

        connection.follow((MODULE,), changed)
        notify("READY=1")
        await until_one_ends(door.run(), stop.wait())
    finally:
        notify("STOPPING=1")
        # A job that is cancelled leaves its thread in sysrepo, which crashes when that goes.
        await loop.shutdown_default_executor()
        connection.close()


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog=_NAME, description="Carries SONiC's CONFIG_DB over into the running configuration."
    )
    parser.add_argument("--config", type=Path, help=f"settings ({DEFAULT_PATH})")
    arguments = parser.parse_args()
    try:
        settings = settings_file.read(Settings, arguments.config, DEFAULT_PATH)
        logging.basicConfig(
            level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
        )
        memory.keep_freed()
        with alone(Path(settings.runtime_directory), _NAME):
            asyncio.run(_run(settings))
    except (SettingsError, AlreadyRunningError, UnreadableError) as error:
        sys.exit(f"{_NAME}: {error}")


if __name__ == "__main__":
    main()
