"""Sessions of sysrepo that can't be had."""

from __future__ import annotations

import errno
from types import SimpleNamespace
from typing import Any

import pytest
from sysrepo import errors

from srv6mgrd.datastore import events
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.datastore.nacm import Nacm

pytestmark = pytest.mark.contract


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


def test_access_control_can_begin_after_it_could_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(events, "InOwnThread", failing)
        with pytest.raises(OSError, match="Too many"):
            Nacm()
    Nacm().close()
