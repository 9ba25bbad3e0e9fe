"""How soon a thread runs that has something to do."""

from __future__ import annotations

import ctypes
import os
import sys

# A request goes from one thread to another some ten times, and each time waits so long for one that
# computes to let go of the interpreter (5 ms by default).
_SWITCH_S = 0.001
_SLICE_NS = 100_000  # the least that kernel/sched/syscalls.c takes


class _Attributes(ctypes.Structure):
    """struct sched_attr (sched_setattr(2)), its first version."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def take_short_turns() -> None:
    """Have threads of the interpreter take turns more often than is usual."""
    sys.setswitchinterval(_SWITCH_S)


def take_short_slices() -> bool:
    """Have this thread, and those that it starts, run soon and for a short time; their share of the
    CPU stays the same. A kernel before 6.12 takes it and goes on as before.

    An answer passes through ten threads. Each of them would wait until others that are busy have
    had their slice of 3 ms (kernel/sched/fair.c, PREEMPT_SHORT). False: it was rejected.
    """
    attributes = _Attributes(
        size=ctypes.sizeof(_Attributes),
        policy=os.SCHED_OTHER,
        nice=os.getpriority(os.PRIO_PROCESS, 0),
        runtime=_SLICE_NS,
    )
    call = getattr(ctypes.CDLL(None), "sched_setattr", None)  # since glibc 2.41
    return call is not None and call(0, ctypes.byref(attributes), 0) == 0
