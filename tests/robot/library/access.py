"""Users of a router who are not root, and hosts that connect and say nothing."""

from __future__ import annotations

import subprocess

from robot.api.deco import library

from examples.gnmi import GnmiError
from tests.robot.library.gnmi import SRV6, Session
from tests.robot.library.network import node

# Connects so many times and holds that until its input ends; what it says of each is discarded.
_IDLE = """
import socket, sys
where = sys.argv[1], int(sys.argv[2])
held = [socket.create_connection(where, 10) for _ in range(int(sys.argv[3]))]
print(len(held), flush=True)
sys.stdin.read()
"""
_CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
_VRF = f"{SRV6}/vrfs/vrf[name=red]"


@library(scope="GLOBAL", auto_keywords=True)
class Access:
    """Who gets in, and as whom."""

    def __init__(self) -> None:
        self._idle: list[subprocess.Popen[str]] = []

    def add_user(self, name: str, user: str, *groups: str) -> None:
        """A user of the router's, of these groups beside their own."""
        command = ["useradd", "--no-create-home", *(["-G", ",".join(groups)] if groups else [])]
        node(name).run([*command, user])

    def socket_is_closed_to(self, name: str, user: str, path: str) -> None:
        """The user can't connect to a UNIX socket."""
        command = ["runuser", "-u", user, "--", "python3", "-c", _CONNECT, path]
        done = node(name).run(command, check=False)
        if "PermissionError" not in done.stderr:
            raise AssertionError(
                f"{name}: {user} {path}: {done.stdout}{done.stderr or 'connected'}"
            )

    def user_reads_and_does_not_write(self, name: str, user: str) -> None:
        """Over the socket of gNMI, as that user."""
        client = Session(node(name), user=user)
        try:
            if not client.get(_VRF):
                raise AssertionError(f"{name}: {user} reads nothing")
            rejected(client, "PERMISSION_DENIED")
        finally:
            client.end()

    def nobody_gets_in_without_a_name(self, name: str) -> None:
        """Over TLS, on the router itself."""
        client = over_tls(name)
        try:
            rejected(client, "UNAUTHENTICATED")
        finally:
            client.end()

    def a_password_is_right(self, name: str, user: str, password: str) -> None:
        """gNMI over TLS knows the user by it, who may not write."""
        self._try_password(name, user, password, "PERMISSION_DENIED")

    def a_password_is_wrong(self, name: str, user: str, password: str) -> None:
        """gNMI over TLS does not take it."""
        self._try_password(name, user, password, "UNAUTHENTICATED")

    def _try_password(self, name: str, user: str, password: str, code: str) -> None:
        client = over_tls(name, username=user, password=password)
        try:
            rejected(client, code)
        finally:
            client.end()

    def hold_idle_connections(self, name: str, address: str, port: int, count: int) -> None:
        """From one node to an address; what sshd closes at once counts, too."""
        held = node(name).popen(
            ["python3", "-c", _IDLE, address, str(port), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._idle.append(held)
        assert held.stdout is not None
        if held.stdout.readline().strip() != str(count):
            raise AssertionError(f"{name}: fewer than {count} connections to {address}:{port}")

    def release_idle_connections(self) -> None:
        """End those that are held."""
        for held in self._idle:
            held.kill()
            held.wait()
        self._idle.clear()


def over_tls(name: str, *, skip_verify: bool = True, **options: str) -> Session:
    """A client on the router itself. ``options`` are pygnmi's."""
    on, at = node(name), ["127.0.0.1", "9339"]
    return Session(on, target=at, insecure=False, skip_verify=skip_verify, **options)


def rejected(client: Session, *codes: str) -> None:
    """A Set ends with one of these statuses. Raises AssertionError."""
    try:
        client.set(update=[(_VRF, {"table-id": 77})])
    except GnmiError as error:
        if error.code not in codes:
            raise AssertionError(f"{error.code}: {error}") from None
        return
    raise AssertionError("it was written")
