"""``srv6-orchagent``: wiring only."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

from orchagent.agent import Agent, Pace
from orchagent.consumer import GuardError
from srv6mgrd import settings as settings_file
from srv6mgrd.alone import AlreadyRunningError, alone
from srv6mgrd.jobs import told_to_stop, until_one_ends
from srv6mgrd.settings import RedisSettings, SettingsError
from srv6mgrd.systemd import notify

_NAME = "srv6-orchagent"
DEFAULT_PATH = Path("/etc/srv6mgr/srv6-orchagent.toml")
_LOG = logging.getLogger(_NAME)


@dataclass(frozen=True, slots=True)
class Settings(RedisSettings):
    """Times in seconds."""

    runtime_directory: str = "/run/srv6mgr/orchagent"
    compare_interval: float = 30.0
    log_level: str = "info"


async def _run(settings: Settings) -> None:
    stop = told_to_stop()
    _LOG.info("rows of APPL_DB become a view in ASIC_DB; no ASIC is programmed")
    agent = Agent(settings.redis(), Pace(compare=settings.compare_interval))
    notify("READY=1")
    try:
        await until_one_ends(agent.run(), stop.wait())
    finally:
        notify("STOPPING=1")


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog=_NAME,
        description="Shows what an ASIC would be asked for. It programs none, and refuses to start"
        " beside SONiC's own orchagent.",
    )
    parser.add_argument("--config", type=Path, help=f"settings ({DEFAULT_PATH})")
    arguments = parser.parse_args()
    try:
        settings = settings_file.read(Settings, arguments.config, DEFAULT_PATH)
        logging.basicConfig(
            level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
        )
        with alone(Path(settings.runtime_directory), _NAME):
            asyncio.run(_run(settings))
    except (SettingsError, AlreadyRunningError, GuardError) as error:
        sys.exit(f"{_NAME}: {error}")


if __name__ == "__main__":
    main()
