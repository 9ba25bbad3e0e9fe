"""Whether sysrepo can make the files that a change needs, asked before each change.

libsysrepo ends the process when a store fails: sr_modinfo_data_store frees the change, and
sr_modinfo_erase frees it once more. A full or read-only file system and a lack of file descriptors
have to be found before it begins.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack
from pathlib import Path

# More than libsysrepo has open at a time to announce and store a change.
_FILES = 8
# File systems without O_TMPFILE (open(2)), as NFS, are not tried.
_UNTRIED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT})


def lacks(folder: Path, octets: int = 0) -> str:
    """Why files of so many bytes can't be made in ``folder`` now; empty: they can."""
    with ExitStack() as held:
        try:
            for _ in range(_FILES):
                _hold(held, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            return (
                f"sysrepo: file descriptors: {error.strerror}; see what takes them"
                " (ls -l /proc/PID/fd), then try again"
            )
        try:
            made = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            _hold(held, made)
            if octets:
                os.posix_fallocate(made, 0, octets)
        except OSError as error:
            if error.errno not in _UNTRIED:
                return (
                    f"sysrepo: {folder} takes no file of {octets >> 10} KiB ({error.strerror}); see"
                    " that it is writable, with room, then try again"
                )
    return ""


def _hold(held: ExitStack, descriptor: int) -> None:
    held.callback(os.close, descriptor)
