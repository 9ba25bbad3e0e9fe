"""``srv6-configdbd``: wiring only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from srv6mgrd import settings as settings_file
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.watch import Watch
from srv6mgrd.configdb.memory import Memory, UnreadableError
from srv6mgrd.configdb.northbound import Beside, Northbound, Timers
from srv6mgrd.configdb.source import connect
from srv6mgrd.configdb.writer import Writer
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.datastore.file_modes import deny_others
from srv6mgrd.datastore.running import MODULE
from srv6mgrd.jobs import until_stopped
from srv6mgrd.netlink.adjacencies import KernelNeighbors
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.settings import DaemonSettings
from srv6mgrd.start import start

_NAME = "srv6-configdbd"
DEFAULT_PATH = Path("/etc/srv6mgr/srv6-configdbd.toml")
_STATIC_SIDS = ("auto", "srv6mgr")
_LOG = logging.getLogger(_NAME)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Settings(DaemonSettings):
    """Times in seconds."""

    runtime_directory: str = "/run/srv6mgr/configdb"
    state_directory: str = "/var/lib/srv6mgr/configdb"
    commit_socket: str = "/run/srv6mgr/commit.sock"
    # NACM's rules for this user hold for what rows write; empty: no rule does.
    user: str = ""
    # A row that is gone, though nobody heard of its removal, is taken for lost this long.
    removal_grace: float = 10.0
    compare_interval: float = 30.0
    # "sonic": VRFs are vrfmgrd's, whose tables are taken over.
    mode: str = "standalone"
    # Who makes SIDs of SRV6_MY_LOCATORS and SRV6_MY_SIDS: "srv6mgr", or "auto": bgpcfgd where
    # FEATURE|bgp is enabled, srv6mgr elsewhere.
    static_sids: str = "auto"


def _load(path: Path | None) -> Settings:
    found = settings_file.read(Settings, path, DEFAULT_PATH)
    for name, known in (("mode", settings_file.MODES), ("static_sids", _STATIC_SIDS)):
        if (said := getattr(found, name)) not in known:
            where = path or DEFAULT_PATH
            raise settings_file.SettingsError(
                f"{where}: {name} = {said!r} is unknown; write one of {', '.join(known)}"
            )
    return found


def _kernel() -> KernelNeighbors | None:
    try:
        return KernelNeighbors()
    except OSError as error:
        _LOG.warning("neighbors and VRFs of the kernel are not known: no netlink (%s)", error)
        return None


async def _run(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    connection = Connection(originator=_NAME)
    deny_others()
    try:
        redis = settings.redis()
        state = Path(settings.state_directory)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        writer = Writer(connection, CommitClient(Path(settings.commit_socket)), settings.user)
        northbound = Northbound(
            lambda: connect(redis, _NAME),
            writer,
            Memory(state / "objects.json", _BOOT.read_text().strip()),
            Timers(grace=settings.removal_grace, compare=settings.compare_interval),
            Beside(
                _kernel(),
                borrows_vrfs=settings.mode == "sonic",
                yields=settings.static_sids == "auto",
            ),
        )

        def changed(_diffs: Sequence[str], _is_whole: bool) -> None:
            loop.call_soon_threadsafe(northbound.stir)

        commits = Path(settings.commit_socket)
        watch = await asyncio.to_thread(Watch, commits, (MODULE,), changed, str)
        try:
            await until_stopped(northbound.run())
        finally:
            writer.stop()
            await asyncio.to_thread(watch.close)
    finally:
        # A job that is cancelled leaves its thread in sysrepo, which crashes when that goes.
        await loop.shutdown_default_executor()
        connection.close()


def main() -> None:
    """Entry point."""
    start(
        _NAME,
        "Carries SONiC's CONFIG_DB over into the running configuration.",
        _load,
        _run,
        (UnreadableError, DatastoreError, KernelError),
        single_instance_in=lambda settings: settings.runtime_directory,
    )


if __name__ == "__main__":
    main()
