"""The vty protocol against a scripted daemon."""

import errno
import gc
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from srv6mgrd.frr.vty import Answer, Sessions, Vty, VtyError
from tests.unit.frr.server import VtyServer

Serve = Callable[..., VtyServer]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bgpd.vty"


@pytest.fixture
def serve(path: Path) -> Iterator[Serve]:
    servers: list[VtyServer] = []

    def start(*args: object, **options: object) -> VtyServer:
        servers.append(VtyServer(path, *args, **options))  # type: ignore[arg-type]
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("chunk", [0, 1, 3])
def test_answers_keep_their_place(serve: Serve, path: Path, chunk: int) -> None:
    serve(lambda c: (13 if "bad" in c else 0, f"said {c}\n" if c != "quiet" else ""), chunk=chunk)
    with Vty(path) as vty:
        answers = vty.run(["one", "bad two", "quiet", "three"])
    assert answers == [
        Answer(0, "said one\n"),
        Answer(13, "said bad two\n"),
        Answer(0, ""),
        Answer(0, "said three\n"),
    ]


def test_many_commands_and_long_answers_do_not_block(serve: Serve, path: Path) -> None:
    serve(lambda c: (0, c * 500))
    commands = [f"line {n}" for n in range(5000)]
    with Vty(path) as vty:
        answers = vty.run(commands)
    assert [a.text for a in answers] == [c * 500 for c in commands]


def test_answers_are_heard_of_while_others_are_outstanding(serve: Serve, path: Path) -> None:
    heard = threading.Event()

    def reply(command: str) -> tuple[int, str]:
        return (0 if command != "b" or heard.wait(10) else 13), ""

    serve(reply)
    with Sessions(path.parent, 20, answered=heard.set) as sessions:
        answers = sessions.run("bgpd", ["a", "b"])
    assert all(answer.ok for answer in answers)


def test_session_starts_in_enable_mode(serve: Serve, path: Path) -> None:
    server = serve()
    with Vty(path) as vty:
        assert vty.run([]) == []
    assert server.seen == ["enable"]


def test_no_daemon(path: Path) -> None:
    with pytest.raises(VtyError) as caught:
        Vty(path)
    assert "bgpd can't be reached" in str(caught.value)
    assert "start frr" in str(caught.value)


def test_a_busy_daemon_is_waited_for(path: Path) -> None:
    """Its backlog is full of those that wait already."""
    began = time.monotonic()
    with busy(path), pytest.raises(VtyError, match=r"took no connection within 0\.2 s") as caught:
        Vty(path, timeout=0.2)
    assert time.monotonic() - began >= 0.2
    assert caught.value.errno == errno.ETIMEDOUT


def test_a_daemon_that_is_no_longer_busy_answers(path: Path) -> None:
    with busy(path) as listening:
        answering = threading.Thread(target=_take_two, args=(listening,))
        answering.start()
        with Vty(path) as vty:
            assert vty.run(["one"]) == [Answer(0, "")]
        answering.join()


@contextmanager
def busy(path: Path) -> Iterator[socket.socket]:
    """A socket whose backlog has no room."""
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting,
    ):
        listening.bind(str(path))
        listening.listen(0)
        waiting.connect(str(path))
        yield listening


def _take_two(listening: socket.socket) -> None:
    """Takes who waits, then answers two commands of the next."""
    listening.accept()[0].close()
    session, _ = listening.accept()
    with session:
        for _ in range(2):
            while not session.recv(1 << 10).endswith(b"\0"):
                pass
            session.sendall(b"\0\0\0\0")


def test_daemon_dies_in_the_middle(serve: Serve, path: Path) -> None:
    serve(die_after=3)  # one of them is `enable`
    with Vty(path) as vty, pytest.raises(VtyError) as caught:
        vty.run(["a", "b", "c", "d"])
    assert len(caught.value.answers) == 2
    assert "bgpd closed the session" in str(caught.value)


def test_silent_daemon(serve: Serve, path: Path) -> None:
    release = threading.Event()

    def reply(command: str) -> tuple[int, str]:
        if command == "wait":
            release.wait(5)
        return 0, ""

    serve(reply)
    with Vty(path, timeout=0.05) as vty, pytest.raises(VtyError, match="no answer within"):
        vty.run(["a", "wait"])
    release.set()


def test_a_session_needs_no_further_descriptor(serve: Serve, path: Path) -> None:
    serve(lambda _: (0, "said\n"))
    with Vty(path) as vty, no_descriptors():
        assert vty.run(["one"]) == [Answer(0, "said\n")]


def test_no_descriptor_for_a_session(serve: Serve, path: Path) -> None:
    serve(lambda _: (0, ""))
    sessions = Sessions(path.parent, 10.0)
    with no_descriptors(), pytest.raises(VtyError, match="raise LimitNOFILE"):
        sessions.show("bgpd", "show version")
    assert sessions.show("bgpd", "show version") == ""


@contextmanager
def no_descriptors() -> Iterator[None]:
    """This process may open nothing more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # What is closed meanwhile would leave room.
    gc.collect()
    probe = os.dup(0)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_words_are_frrs_without_decoration() -> None:
    assert Answer(13, "% Malformed rd\n").message == "Malformed rd"
    assert Answer(13, "a\nFailed: b\n").message == "a; Failed: b"
    assert Answer(13, "").message == "rejected without a message (status 13)"


def test_many_questions_take_one_session(serve: Serve, path: Path) -> None:
    server = serve(lambda c: (0, f"said {c}"))
    with Sessions(path.parent, 5.0) as sessions:
        assert [sessions.show("bgpd", c) for c in ("one", "two")] == ["said one", "said two"]
        assert sessions.run("bgpd", ["three"]) == [Answer(0, "said three")]
    assert server.seen == ["enable", "one", "two", "three"]


def test_a_session_that_ended_is_opened_anew(serve: Serve, path: Path) -> None:
    server = serve(die_after=2)
    with Sessions(path.parent, 5.0) as sessions:
        sessions.show("bgpd", "one")
        with pytest.raises(VtyError, match="closed the session"):
            sessions.show("bgpd", "two")
        sessions.show("bgpd", "three")
    assert server.seen == ["enable", "one", "enable", "three"]


def test_a_question_that_is_rejected_leaves_the_session(serve: Serve, path: Path) -> None:
    server = serve(lambda c: (2 if c == "odd" else 0, "% Unknown command\n" if c == "odd" else ""))
    with Sessions(path.parent, 5.0) as sessions:
        with pytest.raises(VtyError, match="bgpd refused 'odd': Unknown command"):
            sessions.show("bgpd", "odd")
        sessions.show("bgpd", "even")
    assert server.seen == ["enable", "odd", "even"]
