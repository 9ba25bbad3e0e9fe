"""Where a daemon listens: ``host:port``, or ``unix:/path`` for users of this machine."""

from __future__ import annotations

import errno
import grp
import ipaddress
import logging
import os
import socket
from pathlib import Path

from srv6mgrd.settings import SettingsError

_LOG = logging.getLogger(__name__)
_BACKLOG = 128


def is_socket(address: str) -> bool:
    """Whether an address is that of a UNIX socket."""
    return address.startswith("unix:")


def is_local(address: str) -> bool:
    """Whether only this machine can reach an address."""
    if is_socket(address):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(address: str, group: str) -> socket.socket:
    try:
        if is_socket(address):
            return _local(Path(address.removeprefix("unix:")), group)
        return _network(address)
    except OSError as error:
        raise SettingsError(
            f"listen {address}: {error.strerror or error}; choose an address that is this"
            " machine's and free"
        ) from None


def _network(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    # The addresses of a name, in the order of RFC 6724.
    found = socket.getaddrinfo(
        host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, _, _, _, where = found[0]
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(where[0] != "::"))
        made.bind(where)
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _local(path: Path, group: str) -> socket.socket:
    """A socket for root and a group."""
    made = socket.socket(socket.AF_UNIX)
    try:
        _remove_stale(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        before = os.umask(0o177)
        try:
            made.bind(str(path))
        finally:
            os.umask(before)
        try:
            os.chown(path, -1, grp.getgrnam(group).gr_gid)
            path.chmod(0o660)
        except KeyError:
            _LOG.warning("%s: there is no group %s; root alone can connect", path, group)
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def _remove_stale(path: Path) -> None:
    """Remove a socket that nobody listens at. Raises OSError when somebody does."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except FileNotFoundError:
            return
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
    raise OSError(errno.EADDRINUSE, "another server listens there")
