"""A stopped srv6mgrd: who asks waits for its backlog, and does not take it for absent."""

import errno
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.waiting import wait_until
from srv6mgrd.commits import answer, client
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.fields import encode, receive
from srv6mgrd.commits.locks import Caller
from srv6mgrd.datastore.connection import TimedOutError, UnavailableError


def test_a_full_backlog_is_no_absence(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "SILENCE", 0.2)
    path = tmp_path / "commit.sock"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as first:
        listening.bind(str(path))
        listening.listen(0)
        first.connect(str(path))
        with pytest.raises(TimedOutError, match="it takes no connection"):
            CommitClient(path).rpc(Caller("test"), "/x:y", {})


def test_who_has_no_descriptor_can_not_ask(tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(client.socket, "socket", failing)
    with pytest.raises(UnavailableError, match="Too many open files"):
        CommitClient(tmp_path / "commit.sock").rpc(Caller("test"), "/x:y", {})


def test_a_long_wait_is_reported_once_with_its_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "_SILENT_WAIT", 0.2)
    path, reported = tmp_path / "commit.sock", []

    def serve(listening):
        connection, _ = listening.accept()
        with connection:
            receive(connection)
            connection.sendall(encode(answer.waiting("waits behind another change")))
            # Answers when it was said, and not before.
            wait_until(lambda: reported)
            connection.sendall(encode(answer.waiting("carried out for 2 s", begun=True)))
            connection.sendall(encode(answer.ok([("data", b"{}")])))

    with socket.socket(socket.AF_UNIX) as listening, ThreadPoolExecutor(1) as pool:
        listening.bind(str(path))
        listening.listen(1)
        served = pool.submit(serve, listening)
        assert CommitClient(path, reported.append).rpc(Caller("test"), "/x:y", {}) == {}
        served.result()
    assert reported == ["srv6mgrd: waits behind another change"]


def test_an_answer_that_comes_in_two_parts_is_one(tmp_path, monkeypatch):
    """The moment at which a wait is reported may lie between them."""
    monkeypatch.setattr(client, "_SILENT_WAIT", 0.05)
    path = tmp_path / "commit.sock"

    def serve(listening):
        connection, _ = listening.accept()
        with connection:
            receive(connection)
            whole = encode(answer.ok([("data", b"{}")]))
            connection.sendall(whole[:6])
            later = time.monotonic() + 0.15
            wait_until(lambda: time.monotonic() > later)
            connection.sendall(whole[6:])

    with socket.socket(socket.AF_UNIX) as listening, ThreadPoolExecutor(1) as pool:
        listening.bind(str(path))
        listening.listen(1)
        served = pool.submit(serve, listening)
        assert CommitClient(path).rpc(Caller("test"), "/x:y", {}) == {}
        served.result()


def test_a_server_without_a_sign_of_life_is_reported_and_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "_SILENT_WAIT", 0.05)
    monkeypatch.setattr(client, "SILENCE", 0.2)
    path, reported = tmp_path / "commit.sock", []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(1)
        with pytest.raises(TimedOutError, match="no sign of life"):
            CommitClient(path, reported.append).rpc(Caller("test"), "/x:y", {})
    assert reported == ["srv6mgrd: no sign of life so far"]
