"""A stopped srv6mgrd: who asks waits for its backlog, and does not take it for absent."""

import socket

import pytest

from srv6mgrd.commits import client
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.datastore.connection import TimedOutError


def test_a_full_backlog_is_no_absence(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "SILENCE", 0.2)
    path = tmp_path / "commit.sock"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as first:
        listening.bind(str(path))
        listening.listen(0)
        first.connect(str(path))
        with pytest.raises(TimedOutError, match="it takes no connection"):
            CommitClient(path).rpc(Caller("test"), "/x:y", {})
