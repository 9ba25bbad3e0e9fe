"""``srv6-orchagent``: wiring only."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from orchagent.agent import Agent, Timers
from orchagent.consumer import GuardError
from srv6mgrd import settings as settings_file
from srv6mgrd.jobs import until_stopped
from srv6mgrd.netlink.adjacencies import KernelNeighbors
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.settings import DaemonSettings
from srv6mgrd.start import start

_NAME = "srv6-orchagent"
DEFAULT_PATH = Path("/etc/srv6mgr/srv6-orchagent.toml")
_LOG = logging.getLogger(_NAME)


@dataclass(frozen=True, slots=True)
class Settings(DaemonSettings):
    """Times in seconds."""

    runtime_directory: str = "/run/srv6mgr/orchagent"
    compare_interval: float = 30.0
    # Next hops are resolved as the kernel resolved them, beside NEIGH_TABLE.
    kernel_neighbors: bool = True


def _load(path: Path | None) -> Settings:
    return settings_file.read(Settings, path, DEFAULT_PATH)


async def _run(settings: Settings) -> None:
    _LOG.info("rows of APPL_DB become a view in ASIC_DB; no ASIC is programmed")
    timers = Timers(compare=settings.compare_interval)
    await until_stopped(Agent(settings.redis(), timers, _neighbors(settings)).run())


def _neighbors(settings: Settings) -> KernelNeighbors | None:
    if not settings.kernel_neighbors:
        return None
    try:
        return KernelNeighbors()
    except OSError as error:
        _LOG.warning("next hops are those of NEIGH_TABLE alone: no netlink (%s)", error)
        return None


def main() -> None:
    """Entry point."""
    start(
        _NAME,
        "Shows what an ASIC would be asked for. It programs none, and refuses to start beside"
        " SONiC's own orchagent.",
        _load,
        _run,
        (GuardError, KernelError),
        single_instance_in=lambda settings: settings.runtime_directory,
    )


if __name__ == "__main__":
    main()
