"""A daemon's vty socket, scripted: answers as FRR's lib/vty.c frames them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

Reply = Callable[[str], tuple[int, str]]


class VtyServer:
    """Serves one socket until closed. ``reply`` gives status and text per command; ``chunk``
    cuts what is sent into pieces; after ``die_after`` commands the session is closed."""

    def __init__(
        self, path: Path, reply: Reply | None = None, chunk: int = 0, die_after: int = 0
    ) -> None:
        self.seen: list[str] = []
        self.sessions = 0
        self._open: socket.socket | None = None
        self._reply = reply or (lambda _: (0, ""))
        self._chunk = chunk
        self._die_after = die_after
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        if (session := self._open) is not None:
            with contextlib.suppress(OSError):
                session.shutdown(socket.SHUT_RDWR)
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    @property
    def configuration(self) -> list[str]:
        """Commands seen without those of the session itself."""
        session = ("enable", "configure terminal", "end")
        return [c for c in self.seen if c not in session and not c.startswith("show ")]

    def _serve(self) -> None:
        while True:
            try:
                session, _ = self._socket.accept()
            except OSError:
                return
            self.sessions += 1
            self._open = session
            with session, contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._session(session)
            self._open = None

    def _session(self, session: socket.socket) -> None:
        buffer = b""
        taken = 0
        while data := session.recv(512):
            buffer += data
            while b"\0" in buffer:
                command, _, buffer = buffer.partition(b"\0")
                text = command.decode()
                taken += 1
                if self._die_after and taken > self._die_after:
                    return
                self.seen.append(text)
                status, message = self._reply(text)
                answer = message.encode() + b"\0\0\0" + bytes([status])
                step = self._chunk or len(answer)
                for at in range(0, len(answer), step):
                    session.sendall(answer[at : at + step])
