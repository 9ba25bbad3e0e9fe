"""Whether the clock of the host can be believed: it lost its synchronization, or was set."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

# adjtimex(2): the call's result for a clock that is not synchronized.
_TIME_ERROR = 5
# A step that the kernel's slewing does not make, and for how long it is reported; seconds.
_STEP, _REPORTED = 1.0, 300.0
# struct timex has 208 bytes on 64-bit machines.
_TIMEX = 256


def is_synchronized() -> bool | None:
    """The kernel's state as set by a time service; None where it may not be asked, as with the
    ProtectClock of systemd. Nothing is changed."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = int(libc.adjtimex(ctypes.create_string_buffer(_TIMEX)))
    return None if found < 0 else found != _TIME_ERROR


class Clock:
    """Remembers what it saw. A host that never was synchronized has no time service, and may do
    without; the step of its first synchronization is no fault either."""

    def __init__(
        self,
        synchronized: Callable[[], bool | None] = is_synchronized,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
    ) -> None:
        self._synchronized = synchronized
        self._wall, self._steady = wall, steady
        self._offset = wall() - steady()
        self._was_synchronized: bool | None = False
        self._stepped: tuple[float, float] | None = None

    def problem(self) -> str:
        """Empty: it is well."""
        now, synchronized = self._steady(), self._synchronized()
        offset = self._wall() - now
        step, self._offset = offset - self._offset, offset
        if abs(step) >= _STEP and (synchronized is None or self._was_synchronized):
            self._stepped = now, step
        if self._stepped is not None and now - self._stepped[0] > _REPORTED:
            self._stepped = None
        if synchronized is False and self._was_synchronized:
            return "the clock is no longer synchronized"
        self._was_synchronized = synchronized
        if self._stepped is None:
            return ""
        forward = "forward" if self._stepped[1] > 0 else "back"
        return f"the clock was set {forward} by {abs(self._stepped[1]):.0f} s"
