"""Configuration through mgmtd, which takes commands differently from the other daemons.

It loses what arrives together with a command that waits for its transaction (vtysh_read:
CMD_SUSPEND), so each is sent after the answer to the one before. By default each is a transaction
that copies and validates all that mgmtd holds: 500 static routes took 49 s. Many are one
transaction therefore, as vtysh makes one of a file: 4.5 s, and nothing where one is rejected. Then
they are sent one by one, to learn which.

A session in which a transaction failed is ended: mgmtd 10.3 aborts when it begins another
(vty_mgmt_lock_candidate_inline). What it had not committed goes with it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence

from srv6mgrd.frr.blocks import MGMTD
from srv6mgrd.frr.vty import SUCCESS, Answer, Sessions, VtyError
from srv6mgrd.frr.waiting import ticks

# Fewer are sent one by one: a transaction of others may fail while ours is open.
_FEW = 8
_ENTER = "configure terminal"
# In one transaction there is no way back to here but from the context.
_TOGETHER = {"end": "", _ENTER: "exit"}
# What mgmtd says while another session has a transaction, and how long one may take.
_LOCKED = re.compile(r"could not lock|already in progress|Failed to create a Configuration session")
_LOCKED_SECONDS = 5.0
_VRF = re.compile(r"vrf \S+")
_DONE = Answer(SUCCESS, "")


def configure(sessions: Sessions, commands: Sequence[str]) -> list[Answer]:
    """Carry out in configuration mode; an answer to each."""
    if len(commands) > _FEW and _together(sessions, commands):
        return [_DONE] * len(commands)
    answers: list[Answer] = []
    entered = [_ENTER]
    try:
        sessions.run(MGMTD, entered)
        for text in commands:
            answers.append(_alone(sessions, text, entered))
            if text == _ENTER:
                del entered[1:]
            elif _VRF.fullmatch(text):
                entered[1:] = [text]
        # The session is kept.
        sessions.run(MGMTD, ["end"])
    except VtyError as error:
        raise VtyError(error.errno or errno.EPIPE, str(error), answers) from error
    return answers


def _together(sessions: Sessions, commands: Sequence[str]) -> bool:
    """Whether all were carried out; nothing of them where not."""
    texts = [sent for text in commands if (sent := _TOGETHER.get(text, text))]
    try:
        for text in (f"{_ENTER} file-lock", *texts, "XFRR_end_configuration"):
            (answer,) = sessions.run(MGMTD, [text])
            if not answer.ok:
                sessions.drop(MGMTD)
                return False
        sessions.run(MGMTD, ["end"])
    except VtyError as error:
        raise VtyError(error.errno or errno.EPIPE, str(error)) from error
    return True


def _alone(sessions: Sessions, text: str, entered: Sequence[str]) -> Answer:
    """In the context that was entered; tried again while another session is in the way."""
    for _ in ticks(_LOCKED_SECONDS):
        (answer,) = sessions.run(MGMTD, [text])
        if answer.ok:
            break
        sessions.drop(MGMTD)
        for context in entered:
            sessions.run(MGMTD, [context])
        if not _LOCKED.search(answer.text):
            break
    return answer
