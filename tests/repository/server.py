"""The repository over HTTP, which notes what is fetched and can be made to lie."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Repository:
    """``requested`` are the paths that were asked for. ``forged`` is put in the place of the file
    of that path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requested: list[str] = []
        self.forged: dict[str, bytes] = {}
        self.url = ""


@contextmanager
def served(repository: Repository) -> Iterator[None]:
    """On a port of loopback."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            repository.requested.append(self.path)
            forged = repository.forged.get(self.path)
            if forged is None:
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(forged)))
            self.end_headers()
            self.wfile.write(forged)

        def log_message(self, *_: object) -> None:
            """What is asked for is in ``requested``."""

    answering = partial(Handler, directory=str(repository.folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
    repository.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
