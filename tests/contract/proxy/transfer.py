"""A TCP transfer both ways, and whether what came back is what was sent.

transfer.py ADDRESS          sends back to one client all that it sends
transfer.py ADDRESS OCTETS   the client; fails when what comes back differs, or does not come
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading

PORT, CHUNK, TIMEOUT = 5001, 1 << 16, 60


def serve(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, PORT), family=family) as server:
        print("listening", flush=True)
        client, _ = server.accept()
        with client:
            while data := client.recv(CHUNK):
                client.sendall(data)


def fetch(address: str, octets: int) -> None:
    sent, came = hashlib.sha256(), hashlib.sha256()
    with socket.create_connection((address, PORT), timeout=TIMEOUT) as server:

        def send() -> None:
            block = os.urandom(CHUNK)
            for _ in range(octets // CHUNK):
                sent.update(block)
                server.sendall(block)
            server.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        while data := server.recv(CHUNK):
            came.update(data)
        sender.join()
    if sent.digest() != came.digest():
        sys.exit("what came back is not what was sent")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        fetch(sys.argv[1], int(sys.argv[2]))
