"""Processes of srv6-gnmid's own: a module that runs with this interpreter and these paths."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable


def start(
    module: str, argument: str, *, pipes: bool = False, fds: Iterable[int] = ()
) -> subprocess.Popen[bytes]:
    """Run ``module`` as a program; with ``pipes`` to its standard input and output, and with the
    open files ``fds``."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, argument],
        stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
        stdout=subprocess.PIPE if pipes else None,
        pass_fds=tuple(fds),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


async def ended(process: subprocess.Popen[bytes]) -> int:
    """Its status, when it has ended."""
    pidfd = os.pidfd_open(process.pid)
    loop = asyncio.get_running_loop()
    ending = loop.create_future()
    loop.add_reader(pidfd, _settle, ending)
    try:
        await ending
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)
    return process.wait()


def _settle(ending: asyncio.Future[None]) -> None:
    if not ending.done():
        ending.set_result(None)
