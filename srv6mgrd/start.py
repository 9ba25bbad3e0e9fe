"""How a daemon starts: its arguments, settings, log and lock; and how it reports why it can't."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar

from srv6mgrd import memory, scheduling, stacks
from srv6mgrd.settings import SettingsError
from srv6mgrd.single_instance import AlreadyRunningError, single_instance

_LEVELS = ("debug", "info", "warning", "error")


class Configured(Protocol):
    """Settings of a daemon, as far as they are every daemon's."""

    @property
    def log_level(self) -> str: ...


Some = TypeVar("Some", bound=Configured)


def start(
    name: str,
    description: str,
    load: Callable[[Path | None], Some],
    run: Callable[[Some], Coroutine[Any, Any, None]],
    failures: tuple[type[Exception], ...] = (),
    *,
    single_instance_in: Callable[[Some], str] | None = None,
    options: Callable[[argparse.ArgumentParser], object] | None = None,
) -> None:
    """Run a daemon until it ends. Its settings, and ``failures``, end it with one line that says
    why; any other exception is logged with its whole trace.

    ``single_instance_in`` is the folder of its lock, if there may be one of its name only;
    ``options`` adds those that do something else than start."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--config", type=Path, help=f"settings, see {name}(8)")
    if options is not None:
        options(parser)
    arguments = parser.parse_args()
    reported: tuple[type[Exception], ...] = (SettingsError, AlreadyRunningError, *failures)
    try:
        settings = load(arguments.config)
        logging.basicConfig(
            level=_level(settings.log_level), format="%(levelname)s %(name)s: %(message)s"
        )
        stacks.dump_on_request()
        memory.keep_freed()
        scheduling.take_short_turns()
        if not scheduling.take_short_slices():
            logging.getLogger(name).debug("the kernel rejects short slices of the CPU")
        lock = (
            single_instance(Path(single_instance_in(settings)), name)
            if single_instance_in
            else contextlib.nullcontext()
        )
        with lock:
            asyncio.run(run(settings))
    except reported as error:
        sys.exit(f"{name}: {error}")


def _level(named: str) -> str:
    if named.lower() not in _LEVELS:
        raise SettingsError(f"log_level = {named!r} is unknown; write one of {', '.join(_LEVELS)}")
    return named.upper()
