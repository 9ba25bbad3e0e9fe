"""Values under /proc/sys, named by their path below it (``net/ipv6/conf/eth0.100/forwarding``)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from srv6mgrd.kernel.errors import Failure
from srv6mgrd.plan.objects import Sysctl
from srv6mgrd.plan.observed import ObservedObject

_STRICT_MODE = "net/vrf/strict_mode"


def read(paths: Iterable[str], root: Path) -> Iterator[ObservedObject]:
    """The values of those paths that exist and can be read."""
    for path in paths:
        try:
            value = _file(path, root).read_text()
        except (OSError, ValueError):
            continue
        # Lists of numbers are written with a blank and read back with a tab.
        yield ObservedObject(Sysctl(path, " ".join(value.split())), ours=False)


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


def _file(path: str, root: Path) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError(f"{path!r} is not a path below {root}")
    return root / pure
