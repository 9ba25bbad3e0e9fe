"""Values under /proc/sys, named by their path below it (``net/ipv6/conf/eth0.100/forwarding``)."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject

_STRICT_MODE = "net/vrf/strict_mode"
_NETCONFMSG = 4
_RP_FILTER_OF_ONE = "net/ipv4/conf/*/rp_filter"
_RP_FILTER_OF_ALL = "net/ipv4/conf/all/rp_filter"


class Sysctls(KernelKind):
    kinds = (Sysctl,)
    groups = MappingProxyType(
        {wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV4_NETCONF, wire.RTNLGRP_IPV6_NETCONF)}
    )

    def write(self, batch: Batch, action: Action) -> Failure | None:
        wanted = action.object
        if not isinstance(wanted, Sysctl):
            return not_ours_to_write(wanted)
        if isinstance(action, Delete):
            return None
        return batch.call(lambda: write(wanted, self._host.proc_sys))

    def dump(self, reader: Reader) -> Decode:
        return lambda: self.by_key([*read(reader.sysctls, self._host.proc_sys)])

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        """Forwarding that was switched off, or a reverse path filter, which may overrule another
        one. Of most others the kernel reports nothing (inet_netconf_notify_devconf)."""
        if message != wire.RTM_NEWNETCONF:
            return None
        # struct netconfmsg: the family, padded.
        found = wire.attribute_map(body, _NETCONFMSG)
        forwarding = found.get(wire.NETCONFA_FORWARDING)
        if forwarding is not None and not wire.u32(forwarding):
            return KernelEvent(EventKind.SYSCTL, _names(body[0], "forwarding"))
        if wire.NETCONFA_RP_FILTER in found:
            return KernelEvent(EventKind.SYSCTL, _names(body[0], "rp_filter"))
        return None


def _names(family: int, name: str) -> str:
    return f"sysctl net/{'ipv4' if family == socket.AF_INET else 'ipv6'}/conf/*/{name}"


def read(paths: Iterable[str], root: Path) -> Iterator[ObservedObject]:
    """The values of those paths that exist and can be read. Raises KernelError when it is us who
    can't read."""
    for path in paths:
        if (found := value(path, root)) is not None:
            yield ObservedObject(Sysctl(path, found), ours=False)


def overruled(paths: Iterable[str], root: Path) -> Mapping[str, str]:
    """Of values that are maxima with the one for all (IN_DEV_RPFILTER), those that this one makes
    of no effect, by key and with the words for it."""
    of_all = value(_RP_FILTER_OF_ALL, root)
    if of_all in (None, "0"):
        return {}
    message = (
        f"{_RP_FILTER_OF_ALL.replace('/', '.')} is {of_all}, so the kernel drops IPv4 packets"
        " that come out of a tunnel; set it to 0, and those of interfaces instead"
    )
    concerned = (path for path in paths if PurePosixPath(path).match(_RP_FILTER_OF_ONE))
    return {Sysctl(path, "").key: message for path in concerned}


def write(sysctl: Sysctl, root: Path) -> Failure | None:
    try:
        # One write(2): proc handlers take a value whole. No O_CREAT: a path that isn't there
        # is a feature this kernel lacks.
        handle = os.open(_file(sysctl.path, root), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(handle, sysctl.value.encode() + b"\n")
        finally:
            os.close(handle)
    except ValueError as error:
        return Failure(errno.EINVAL, str(error))
    except OSError as error:
        number = error.errno or errno.EIO
        if number == errno.EBUSY and sysctl.path == _STRICT_MODE:
            # vrf_strict_mode_change gives no words.
            return Failure(number, "two VRF devices share a table")
        return Failure.of(number)
    return None


def value(path: str, root: Path) -> str | None:
    """None where there is none, or it can't be read."""
    try:
        # Lists of numbers are written with a blank and read back with a tab.
        return " ".join(_file(path, root).read_text().split())
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            # It is there: it is us who can't read it.
            raise KernelError(
                f"sysctl {path.replace('/', '.')}",
                f"it can't be read ({error.strerror})",
                "see what takes the descriptors of srv6mgrd, or raise LimitNOFILE",
            ) from error
        return None


def _file(path: str, root: Path) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError(f"{path!r} is not a path below {root}")
    return root / pure
