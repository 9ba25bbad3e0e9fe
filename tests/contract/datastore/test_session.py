"""Sessions of sysrepo that can't be had."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from sysrepo import errors

from srv6mgrd.datastore import events
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.datastore.nacm import Nacm
from srv6mgrd.datastore.operational_data import OperationalData
from srv6mgrd.datastore.running import MODULE, TREE

# libsysrepo looks for its repository once.
pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("place")]

WAIT_MS = 5000


def test_a_session_that_can_not_be_opened_is_rejected_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(_: str) -> Any:
        raise errors.SysrepoSysError("sr_session_start failed")

    connection = Connection(originator="test")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(connection, "_conn", SimpleNamespace(start_session=failing))
            opening = connection.session_of("test")
            with pytest.raises(DatastoreError, match="descriptors left, then try again"):
                opening.__enter__()
    finally:
        connection.close()


def failing(*_: object) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def follow(connection: Connection) -> None:
    connection.follow([MODULE], lambda _: None)


def answer(connection: Connection) -> None:
    OperationalData(connection.session(), lambda *_: None).subscribe(MODULE, f"{TREE}/locators")


@pytest.mark.parametrize("subscribe", [follow, answer])
def test_who_can_not_follow_has_not_subscribed(
    monkeypatch: pytest.MonkeyPatch, subscribe: Callable[[Connection], None]
) -> None:
    """Writers and readers would wait for it until its session ends."""
    one, other = Connection(originator="one"), Connection(originator="other")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(events, "InOwnThread", failing)
            with pytest.raises(OSError, match="Too many"):
                subscribe(one)
        began = time.monotonic()
        session = other.session()
        session.set_item(f"{TREE}/locators/locator[name='main']/prefix", "fcbb:0:1::/48")
        session.apply_changes(timeout_ms=WAIT_MS)
        other.session("operational").get_data(f"{TREE}/locators", timeout_ms=WAIT_MS)
        assert time.monotonic() - began < WAIT_MS / 1000
        session.delete_item(f"{TREE}/locators")
        session.apply_changes(timeout_ms=WAIT_MS)
    finally:
        one.close()
        other.close()


def test_access_control_can_begin_after_it_could_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(events, "InOwnThread", failing)
        with pytest.raises(OSError, match="Too many"):
            Nacm()
    Nacm().close()
