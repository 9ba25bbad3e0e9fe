"""Users and groups of the operating system, by its name service (nsswitch.conf).

NACM counts these groups as its own (RFC 8341, enable-external-groups). They may come from a
directory in the network that does not answer. Its users are then rejected: with no groups at all
they would be under none of the rules that deny by group.
"""

from __future__ import annotations

import ctypes
import errno
import grp
import os
import pwd
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int, c_uint
from typing import Any

from srv6mgrd.lookups import Lookups

# getpwnam(3): these say that there is no such user, others that it is not known.
_UNKNOWN = (0, errno.ENOENT, errno.ESRCH, errno.EBADF, errno.EPERM)
_ENTRY, _LARGEST_ENTRY = 4 << 10, 1 << 20
_GROUPS = 64
_REMEDY = "see that what nsswitch.conf names for users and groups answers (getent initgroups USER)"


class _Passwd(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("password", c_char_p),
        ("uid", c_uint),
        ("gid", c_uint),
        ("gecos", c_char_p),
        ("directory", c_char_p),
        ("shell", c_char_p),
    )


Groups = Lookups[str, frozenset[str]]
Users = Lookups[int, str | None]


def system_groups(look_up: Callable[[str], frozenset[str]] | None = None, **options: Any) -> Groups:
    """Groups by the name of their user; none of a user that the system does not know."""
    return Lookups(look_up or groups_of, lambda user: f"user {user}: groups", _REMEDY, **options)


def system_users(look_up: Callable[[int], str | None] | None = None, **options: Any) -> Users:
    """Names of users by number; None where the system has none."""
    return Lookups(look_up or name_of, lambda uid: f"uid {uid}: name", _REMEDY, **options)


def groups_of(user: str) -> frozenset[str]:
    """Names; none of a user that the system does not know. May block. Raises OSError."""
    name = user.encode(errors="surrogateescape")
    if b"\0" in name or (primary := _primary_group(name)) is None:
        return frozenset()
    found = set()
    for number in _group_numbers(name, primary):
        try:
            found.add(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return frozenset(found)


def name_of(uid: int) -> str | None:
    """The name of a user. May block."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


# Python's own: pwd.getpwnam takes every failure for an unknown user, and os.getgrouplist holds the
# interpreter's lock while it waits, hence all threads.
_libc = ctypes.CDLL(None)
_libc.getpwnam_r.argtypes = (c_char_p, POINTER(_Passwd), c_char_p, ctypes.c_size_t,
                             POINTER(POINTER(_Passwd)))  # fmt: skip
_libc.getgrouplist.argtypes = (c_char_p, c_uint, POINTER(c_uint), POINTER(c_int))


def _primary_group(name: bytes) -> int | None:
    entry, found, size = _Passwd(), POINTER(_Passwd)(), _ENTRY
    while True:
        room = ctypes.create_string_buffer(size)
        code = _libc.getpwnam_r(name, byref(entry), room, size, byref(found))
        if code != errno.ERANGE or size >= _LARGEST_ENTRY:
            break
        size *= 4
    if code not in _UNKNOWN:
        raise OSError(code, os.strerror(code))
    return int(entry.gid) if found else None


def _group_numbers(name: bytes, primary: int) -> list[int]:
    most = _GROUPS
    while True:
        numbers, count = (c_uint * most)(), c_int(most)
        if _libc.getgrouplist(name, primary, numbers, byref(count)) >= 0:
            return list(numbers[: count.value])
        # A user may be added to another group meanwhile.
        most = max(2 * most, count.value)
