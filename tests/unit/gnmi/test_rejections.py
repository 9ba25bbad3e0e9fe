"""Rejections from messages as libyang 3.13 and sysrepo 3.7 write them.

``libyang-messages.json`` was recorded: message, data path, and the words that we make of them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.datastore.rejections import Complaint, complaint, explain

RECORDED = json.loads(Path(__file__).with_name("libyang-messages.json").read_text())

RED, BLUE = (f"/srv6mgr-srv6:srv6/vrfs/vrf[name='{n}']" for n in ("red", "blue"))
TABLES = {f"{RED}/table-id": "100", f"{BLUE}/table-id": "100"}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda r: r["text"][:60])
def test_recorded(recorded: dict[str, str]) -> None:
    complaint = Complaint(recorded["message"], recorded["path"])
    held = {f"{RED}/table-id": "100"}
    (rejection,) = explain([complaint], TABLES.get, held=held.get)
    assert str(rejection) == recorded["text"]


@pytest.mark.parametrize(
    ("first", "second", "held", "wanted"),
    [
        (RED, BLUE, RED, "VRF blue: table 100 is already used by VRF red"),
        (BLUE, RED, RED, "VRF blue: table 100 is already used by VRF red"),
        (BLUE, RED, BLUE, "VRF red: table 100 is already used by VRF blue"),
    ],
)
def test_the_newcomer_is_the_offender(first: str, second: str, held: str, wanted: str) -> None:
    message = f'Unique data leaf(s) "table-id" not satisfied in "{first}" and "{second}".'
    running = {f"{held}/table-id": "100"}
    (rejection,) = explain([Complaint(message, second)], TABLES.get, held=running.get)
    assert str(rejection) == f"{wanted}; choose another table-id"
    assert rejection.tag == "table-in-use"


def test_sysrepo_puts_the_path_behind_the_message() -> None:
    text = 'Mandatory node "a" instance does not exist.'
    assert complaint(ErrorInfo(9, f'{text} (path "{RED}")')) == Complaint(text, RED)
    assert complaint(ErrorInfo(9, "x")) == Complaint("x")


def test_words_of_srv6mgrd_are_unchanged_and_the_frame_goes() -> None:
    said = (
        "SID fcbb:0:1:64::/64: it is outside locator main (fcbb:0:2::/48); choose a SID in this"
        " prefix, or another locator"
    )
    other = "VRF red: table 8986 holds the local SIDs; choose another table-id"
    found = [Complaint(f"{said}\n{other}"), Complaint("User callback failed.")]
    assert [str(r) for r in explain(found)] == [said, other]


def test_what_srv6mgrd_rejected_keeps_tag_path_and_element() -> None:
    said = "VRF red: table 8986 holds the local SIDs; choose another table-id"
    info = ErrorInfo(14, said, "operation-failed", "application", "table-reserved", RED, "table-id")
    (rejection,) = explain([complaint(info)])
    assert str(rejection) == said
    assert (rejection.object, rejection.tag) == ("VRF red", "table-reserved")
    assert (rejection.path, rejection.element) == (RED, "table-id")
    (rejection,) = explain([complaint(replace(info, app_tag=""))])
    assert rejection.tag == "refused"


def test_unknown_words_are_shown_behind_their_object() -> None:
    (rejection,) = explain([Complaint("Something new.", f"{RED}/table-id")])
    assert str(rejection) == "VRF red: Something new; correct it and send it again"
    (rejection,) = explain([Complaint("Validation failed.")])
    assert str(rejection) == "value: Validation failed; correct it and send it again"
