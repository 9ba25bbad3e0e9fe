"""Sessions of sysrepo that can't be had."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sysrepo import errors

from srv6mgrd.datastore.connection import Connection, DatastoreError

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
