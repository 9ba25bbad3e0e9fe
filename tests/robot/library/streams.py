"""TCP between nodes, what it learns of the path, and what is seen of packets on a device."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library.network import node
from tests.robot.library.stream import End

_PROGRAM = ["python3", "-S", "/src/tests/robot/library/stream.py"]
_PORT = "7777"


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a connection."""

    sender: End
    receiver: End


@library(scope="GLOBAL", auto_keywords=True)
class Streams:
    """TCP connections, path MTUs, captures."""

    def __init__(self) -> None:
        self._capture: subprocess.Popen[Any] | None = None
        self._seen = Path()

    def stream_arrives(
        self, source: str, to: str, at: str, listen: str = "", octets: int = 200_000
    ) -> Ends:
        """Send bytes over TCP; they arrive as they were. Both ends are ``NODE [DEVICE]``, a device
        is a VRF or a port. ``listen`` is what the receiver calls its address, if not the same."""
        name, device = _end(at)
        listener = node(name).popen(
            [*_PROGRAM, "listen", listen or to, _PORT, device],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert listener.stdout is not None
        try:
            assert listener.stdout.readline() == "listening\n", f"{at}: can't listen on {to}"
            name, device = _end(source)
            sent = node(name).run([*_PROGRAM, "send", to, _PORT, device, str(octets)], check=False)
            assert not sent.returncode, f"{source} to {to}: {sent.stderr.strip()[-300:]}"
            received = listener.stdout.read()
        finally:
            listener.kill()
            listener.wait()
            listener.stdout.close()
        ends = Ends(End(**json.loads(sent.stdout)), End(**json.loads(received)))
        assert ends.sender.digest == ends.receiver.digest, f"{source} to {to}: {ends}"
        return ends

    def no_stream_arrives(self, source: str, to: str, at: str) -> None:
        """A connection is rejected although one listens there."""
        try:
            self.stream_arrives(source, to, at)
        except AssertionError as error:
            if "ConnectionRefusedError" not in str(error):
                raise
        else:
            raise AssertionError(f"{source} reaches {to} at {at}")

    def path_mtu(self, source: str, to: str) -> int:
        """What a node, or a VRF of it, has learned of the path to an address; 0 if nothing."""
        name, device = _end(source)
        command = ["ip", "route", "get", to, *([] if device == "-" else ["vrf", device])]
        found = re.search(r"\bmtu (\d+)", node(name).run(command).stdout)
        return int(found[1]) if found else 0

    def forget_paths(self, *names: str) -> None:
        """Forget what was learned of paths."""
        for name in names:
            node(name).run(
                ["sh", "-c", "ip route flush cache && ip -6 route flush cache table all"]
            )

    def errors_received_by(self, name: str) -> int:
        """ICMP and ICMPv6 errors about packets that did not arrive."""
        counters = ["IcmpInDestUnreachs", "Icmp6InPktTooBigs", "Icmp6InDestUnreachs"]
        shown = node(name).run(["nstat", "-asz", *counters]).stdout
        return sum(int(line.split()[1]) for line in shown.splitlines() if line.startswith("Icmp"))

    def link_local_of(self, name: str, interface: str) -> str:
        """The link-local address of an interface."""
        shown = node(name).json(
            ["ip", "-6", "-j", "addr", "show", "dev", interface, "scope", "link"]
        )
        address: str = next(
            info["local"] for link in shown for info in link.get("addr_info", []) if "local" in info
        )
        return address

    def begin_capture(self, name: str, device: str) -> None:
        """Watch echo requests and replies on a device."""
        command = ["tcpdump", "--immediate-mode", "-lnqi", device, "icmp or icmp6"]
        self._seen = node(name).path("/tmp/seen")
        with self._seen.open("w") as seen:
            self._capture = node(name).popen(
                command, stdout=seen, stderr=subprocess.PIPE, text=True
            )
        assert self._capture.stderr is not None
        for line in self._capture.stderr:
            if line.startswith("listening"):
                return
        raise AssertionError(f"{name}: tcpdump on {device} ended")

    def captured(self, *packets: str) -> None:
        """Each ``SOURCE > DESTINATION: KIND`` is seen; ends the capture."""
        assert self._capture is not None
        try:
            for packet in packets:
                what = f"a packet {packet} seen"
                wait_until(lambda packet=packet: packet in self._seen.read_text(), what, 5)
        finally:
            self._capture.terminate()
            self._capture.communicate()


def _end(text: str) -> tuple[str, str]:
    name, _, device = text.partition(" ")
    return name, device or "-"
