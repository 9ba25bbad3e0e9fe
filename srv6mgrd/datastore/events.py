"""Events of sysrepo's subscriptions in the event loop, also after one could not be processed.

sysrepo empties the pipe that announces events before it opens what they need: without a file
descriptor left the event would stay, and its writer wait, until another event comes.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import sysrepo

_LOG = logging.getLogger(__name__)

_RETRY = 0.5


def process_in_loop(session: Any) -> None:
    """Process the events of all subscriptions of a session in the running event loop. They were
    made with ``asyncio_register``, whose reader gives up after a failure."""
    loop = asyncio.get_running_loop()
    for subscription in session.subscriptions:
        loop.add_reader(subscription.fd, partial(_process, loop, subscription))


def _process(loop: asyncio.AbstractEventLoop, subscription: Any, *, again: bool = False) -> None:
    if subscription.cdata is None:
        return  # it was ended meanwhile
    try:
        subscription.process_events()
    except sysrepo.SysrepoError as error:
        if not again:
            _LOG.error("sysrepo: an event cannot be processed: %s; retrying", error)
        loop.call_later(_RETRY, partial(_process, loop, subscription, again=True))
