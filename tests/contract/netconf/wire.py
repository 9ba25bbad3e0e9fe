"""The server's sockets without a NETCONF library: what is sent is what the test says."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any, Self

from lxml import etree

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
END = b"]]>]]>"
HELLO = (
    f'<hello xmlns="{BASE}"><capabilities><capability>urn:ietf:params:netconf:base:1.1'
    "</capability></capabilities></hello>"
)


class Wire:
    """A connection that has said hello, in base:1.1."""

    def __init__(
        self, to: Path | socket.socket, hello: bytes | None = None, seconds: float = 20
    ) -> None:
        """``to``: the server's socket, or a connection."""
        self.socket = socket.socket(socket.AF_UNIX) if isinstance(to, Path) else to
        self.socket.settimeout(seconds)
        if isinstance(to, Path):
            self.socket.connect(str(to))
        self._buffer = b""
        self.socket.sendall((HELLO.encode() if hello is None else hello) + END)
        self.hello = self._until(END) if hello is None else b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def ask(self, message: str) -> Any:
        """The reply to a message."""
        self.send(framed(message.encode()))
        return self.reply()

    def call(self, inside: str) -> Any:
        """The reply to an RPC."""
        return self.ask(f'<rpc xmlns="{BASE}" message-id="1">{inside}</rpc>')

    def reply(self) -> Any:
        return etree.fromstring(self.message(), etree.XMLParser(huge_tree=True))

    def message(self) -> bytes:
        """The next message; what ends before is an EOFError."""
        parts = []
        while True:
            self._until(b"\n#")
            size = self._until(b"\n")
            if size == b"#":
                return b"".join(parts)
            parts.append(self._take(int(size)))

    def ended(self) -> bool:
        """The server ends the connection, maybe after an answer."""
        try:
            while self.socket.recv(65536):
                pass
        except (ConnectionResetError, ssl.SSLError):
            pass
        return True

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            self._more()
        taken, self._buffer = self._buffer.split(mark, 1)
        return taken

    def _take(self, size: int) -> bytes:
        parts, have = [self._buffer], len(self._buffer)
        while have < size:
            got = self.socket.recv(1 << 20)
            if not got:
                raise EOFError
            parts.append(got)
            have += len(got)
        whole = b"".join(parts)
        self._buffer = whole[size:]
        return whole[:size]

    def _more(self) -> None:
        got = self.socket.recv(65536)
        if not got:
            raise EOFError
        self._buffer += got


def framed(message: bytes) -> bytes:
    """As one chunk (RFC 6242 section 4.2)."""
    return b"\n#%d\n%b\n##\n" % (len(message), message)
