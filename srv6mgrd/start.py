"""How a daemon starts: its arguments, settings, log and lock; and how it tells why it can't."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from srv6mgrd import memory
from srv6mgrd.alone import AlreadyRunningError, alone
from srv6mgrd.settings import SettingsError, Some


def start(
    name: str,
    description: str,
    load: Callable[[Path | None], Some],
    run: Callable[[Some], Coroutine[Any, Any, None]],
    failures: tuple[type[Exception], ...] = (),
) -> None:
    """Run a daemon until it ends. Its settings, and ``failures``, end it with one line that says
    why; of whatever else goes wrong the whole trace is told."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--config", type=Path, help=f"settings (/etc/srv6mgr/{name}.toml)")
    arguments = parser.parse_args()
    told: tuple[type[Exception], ...] = (SettingsError, AlreadyRunningError, *failures)
    try:
        settings = load(arguments.config)
        logging.basicConfig(
            level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
        )
        memory.keep_freed()
        with alone(Path(settings.runtime_directory), name):
            asyncio.run(run(settings))
    except told as error:
        sys.exit(f"{name}: {error}")
