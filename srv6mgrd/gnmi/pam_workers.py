"""Processes that ask PAM, see ``pam``; one for each thread that checks passwords at a time."""

from __future__ import annotations

import json
import logging
import queue
import select
import subprocess

from srv6mgrd.gnmi import child
from srv6mgrd.gnmi.pam import Pam

_LOG = logging.getLogger(__name__)
# A server of RADIUS or TACACS+ that is down keeps a module for as long as that takes.
_TIMEOUT_S = 15.0
_PROGRAM = "srv6mgrd.gnmi.pam"


class PamWorkers:
    """``check`` may be called by several threads."""

    def __init__(self, service: str) -> None:
        """Raises SettingsError when this system has no PAM."""
        Pam(service)
        self._service = service
        self._idle: queue.LifoQueue[subprocess.Popen[bytes]] = queue.LifoQueue()

    def check(self, user: str, password: str, host: str) -> bool:
        """Whether PAM takes the password. Blocks."""
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = child.start(_PROGRAM, self._service, pipes=True)
        answer = _ask(worker, json.dumps([user, password, host]).encode() + b"\n")
        if not answer:
            worker.kill()
            worker.wait()
            _LOG.error(
                "PAM service %s: no answer within %.0f s, or a module crashed; see its log",
                self._service, _TIMEOUT_S,
            )  # fmt: skip
            return False
        self._idle.put(worker)
        return answer == b"1\n"

    def close(self) -> None:
        """End the processes that are idle."""
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return
            worker.kill()
            worker.wait()


def _ask(worker: subprocess.Popen[bytes], request: bytes) -> bytes:
    """The answer; empty when there is none."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(request)
        worker.stdin.flush()
    except OSError:
        return b""
    readable, _, _ = select.select([worker.stdout], [], [], _TIMEOUT_S)
    return worker.stdout.readline() if readable else b""
