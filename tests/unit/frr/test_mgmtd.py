"""mgmtd takes one command at a time, and many as one transaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from srv6mgrd.frr.mgmtd import configure
from srv6mgrd.frr.vty import Answer, Sessions, VtyError
from tests.unit.frr.server import Reply, VtyServer

ENTERING = ["enable", "configure terminal", "vrf red"]
MANY = [f"ip route {n}" for n in range(9)]


def carried_out(
    tmp_path: Path, commands: list[str], reply: Reply
) -> tuple[list[Answer], list[str]]:
    """The answers, and what mgmtd saw."""
    server = VtyServer(tmp_path / "mgmtd.vty", reply)
    try:
        with Sessions(tmp_path, 10) as sessions:
            return configure(sessions, commands), server.seen
    finally:
        server.close()


def accept(_: str) -> tuple[int, str]:
    return 0, ""


def test_a_rejected_command_is_followed_by_a_new_session_in_its_context(tmp_path: Path) -> None:
    def reply(command: str) -> tuple[int, str]:
        return (13, "no") if command == "b" else (0, "")

    answers, seen = carried_out(tmp_path, ["vrf red", "b", "c"], reply)

    assert [a.ok for a in answers] == [True, False, True]
    assert seen == [*ENTERING, "b", *ENTERING, "c", "end"]


def test_a_command_that_met_a_lock_is_tried_again(tmp_path: Path) -> None:
    replies = iter([(13, "could not lock running DS"), (0, "")])

    answers, seen = carried_out(tmp_path, ["a"], lambda c: next(replies) if c == "a" else (0, ""))

    assert [a.ok for a in answers] == [True]
    assert seen.count("a") == 2


def test_many_are_one_transaction(tmp_path: Path) -> None:
    commands = ["vrf red", "no ip nht", "end", "configure terminal", *MANY]

    answers, seen = carried_out(tmp_path, commands, accept)

    assert [a.ok for a in answers] == [True] * len(commands)
    assert seen == [
        "enable", "configure terminal file-lock", "vrf red", "no ip nht", "exit", *MANY,
        "XFRR_end_configuration", "end",
    ]  # fmt: skip


@pytest.mark.parametrize("rejected", ["ip route 4", "XFRR_end_configuration"])
def test_one_of_many_that_is_rejected_is_found(tmp_path: Path, rejected: str) -> None:
    def reply(command: str) -> tuple[int, str]:
        return (13, "no") if command in (rejected, "ip route 4") else (0, "")

    answers, seen = carried_out(tmp_path, MANY, reply)

    assert [a.ok for a in answers] == [n != 4 for n in range(9)]
    assert "end" not in seen[:-1]


def test_mgmtd_that_goes_away(tmp_path: Path) -> None:
    server = VtyServer(tmp_path / "mgmtd.vty", die_after=4)
    with Sessions(tmp_path, 10) as sessions, pytest.raises(VtyError) as error:
        configure(sessions, ["a", "b", "c"])
    server.close()

    assert len(error.value.answers) == 2
