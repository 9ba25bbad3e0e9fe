"""Where each thread is, on request: ``kill -USR1 PID`` has a daemon write the stacks of all its
threads to standard error, hence to the journal, also while its event loop hangs. A crash in a
library (SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL) writes them too."""

from __future__ import annotations

import faulthandler
import signal

_STDERR = 2


def dump_on_request() -> None:
    """From now on. In C, without the interpreter's lock: no thread has to answer."""
    faulthandler.enable(file=_STDERR)
    faulthandler.register(signal.SIGUSR1, file=_STDERR, all_threads=True)
