"""Asserts that objects are used by the thread that owns them, where tests ask for it
(docs/threads.md): ``SRV6MGR_CHECK_THREADS=1``. Otherwise nothing is checked and nothing is slower.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
import threading
from collections.abc import Callable, Collection
from typing import Any, TypeVar

_LOG = logging.getLogger(__name__)

CHECKED = os.environ.get("SRV6MGR_CHECK_THREADS") == "1"

_ATTRIBUTE = "_owned_by_thread"
_T = TypeVar("_T", bound=type)


class WrongThreadError(AssertionError):
    """A defect of ours: an object was used by two threads."""


def one_thread(*, but: Collection[str] = (), checked: bool = CHECKED) -> Callable[[_T], _T]:
    """Public methods and properties of this class are for one thread, the one that calls the first
    of them; those named in ``but`` are for any."""

    def decorate(cls: _T) -> _T:
        if checked:
            for name, member in list(vars(cls).items()):
                if not name.startswith("_") and name not in but:
                    _check(cls, name, member)
        return cls

    return decorate


def _check(cls: type, name: str, member: object) -> None:
    if isinstance(member, property):
        assert member.fget is not None
        setattr(cls, name, property(_checked(member.fget, f"{cls.__name__}.{name}"), member.fset))
    elif inspect.isfunction(member):
        setattr(cls, name, _checked(member, f"{cls.__name__}.{name}"))


def _checked(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(self: Any, *arguments: Any, **named: Any) -> Any:
            # It runs in the thread of its loop, wherever it was made.
            _check_owner(self, name)
            return await function(self, *arguments, **named)

        return awaited

    @functools.wraps(function)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        _check_owner(self, name)
        return function(self, *arguments, **named)

    return called


def _check_owner(checked: Any, name: str) -> None:
    mine = threading.current_thread()
    owner = checked.__dict__.setdefault(_ATTRIBUTE, mine)
    if owner is not mine and owner.is_alive():
        text = f"{name}: called in thread {mine.name}, but {owner.name} owns it"
        # Who catches everything must not hide it.
        _LOG.error("%s", text)
        raise WrongThreadError(text)
