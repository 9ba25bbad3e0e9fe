"""Frames that the kernel of a node would not make: sent as they are, on one of its interfaces.

``frames.py INTERFACE HEX...`` is a program, since the socket has to be opened on the node.
"""

from __future__ import annotations

import socket
import sys

if __name__ == "__main__":
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((sys.argv[1], 0))
        for frame in sys.argv[2:]:
            link.send(bytes.fromhex(frame))
