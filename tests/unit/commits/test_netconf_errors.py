"""Errors in the words of all northbounds, with the members of an rpc-error."""

from __future__ import annotations

import pytest

from srv6mgrd.commits import answer, netconf_errors
from srv6mgrd.commits.fields import Fields, ProtocolError
from srv6mgrd.datastore.error_info import ErrorInfo

SID = "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1:65::/64']"
RED = "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']"
LIBYANG, NOT_FOUND, VALIDATION, UNAUTHORIZED, CALLBACK = 2, 5, 9, 11, 14


@pytest.mark.parametrize(
    ("info", "tag", "app_tag", "message", "element"),
    [
        (
            ErrorInfo(VALIDATION, f'End.DT4 and End.DT46 look up a VRF; add vrf (path "{SID}")'),
            "operation-failed", "sid-vrf-missing",
            "SID fcbb:0:1:65::/64: End.DT4 and End.DT46 look up a VRF; add vrf", "",
        ),
        (
            ErrorInfo(LIBYANG, 'Mandatory node "table-id" instance does not exist.', path=RED),
            "missing-element", "missing", "VRF red: table-id is missing; add table-id", "table-id",
        ),
        (
            ErrorInfo(LIBYANG, 'Node "vrf" to be created already exists.', path=RED),
            "data-exists", "data-exists", "VRF red: it exists already; use merge or replace", "vrf",
        ),
        (
            ErrorInfo(
                LIBYANG, 'Invalid type uint32 value "x".', type="protocol",
                path="/ietf-netconf:kill-session/session-id",
            ),
            "invalid-value", "value-syntax",
            "kill-session: session-id 'x' is not allowed; see the model for its values", "",
        ),
        (
            ErrorInfo(LIBYANG, 'No module with namespace "urn:x" in the context.'),
            "unknown-namespace", "",
            "request: namespace urn:x is unknown; see the capabilities for those there are",
            "urn:x",
        ),
        (
            ErrorInfo(
                CALLBACK, "VRF red: it has no table; add table-id", "operation-failed",
                "application", "missing", RED, "table-id",
            ),
            "missing-element", "missing", "VRF red: it has no table; add table-id", "table-id",
        ),
        (
            ErrorInfo(13, 'EV ORIGIN: SHM event "change" ID 19 processing timed out.'),
            "operation-failed", "timed-out",
            "request: it took too long and is taken back; make it in smaller parts", "",
        ),
        (
            ErrorInfo(UNAUTHORIZED, "VRF red: bob may not write it; ask for a rule"),
            "access-denied", "", "VRF red: bob may not write it; ask for a rule", "",
        ),
    ],
)  # fmt: skip
def test_an_error(info: ErrorInfo, tag: str, app_tag: str, message: str, element: str) -> None:
    (found,) = netconf_errors.reported([info])
    assert (found.tag, found.app_tag) == (tag, app_tag)
    assert (found.message, found.bad_element) == (message, element)


def test_where_it_is_a_parameter_of_an_operation() -> None:
    path = f"/ietf-netconf:edit-config/config{RED}/table-id"
    info = ErrorInfo(
        LIBYANG, 'Value "99999999999" is out of type uint32 min/max bounds.', path=path
    )
    (found,) = netconf_errors.reported([info])
    assert found.message.startswith("VRF red: table-id 99999999999 is out of range")
    assert found.path == path


def test_framing_is_reported_where_there_is_nothing_else() -> None:
    framing = ErrorInfo(LIBYANG, "Validation failed.")
    cause = ErrorInfo(LIBYANG, 'Mandatory node "name" instance does not exist.', path=RED)
    assert [e.app_tag for e in netconf_errors.reported([framing, cause, cause])] == ["missing"]
    assert len(netconf_errors.reported([framing])) == 1


def test_many_mistakes_are_reported_briefly() -> None:
    many = [
        ErrorInfo(LIBYANG, 'Mandatory node "name" instance does not exist.', path=f"{RED}/x{n}")
        for n in range(200)
    ]
    assert len(netconf_errors.reported(many)) == 20


def test_what_sysrepo_said_for_netconf_is_kept() -> None:
    info = ErrorInfo(NOT_FOUND, "no", "access-denied", "protocol", "its-own", RED, "vrf")
    (found,) = netconf_errors.reported([info])
    assert (found.tag, found.type, found.app_tag, found.bad_element) == (
        "access-denied", "protocol", "its-own", "vrf",
    )  # fmt: skip


def test_a_request_is_read_as_an_answer_is_written() -> None:
    infos = [ErrorInfo(1, "one"), ErrorInfo(2, "two", tag="data-exists", bad_element="vrf")]
    fields = [("request", b"word"), *answer.of_infos(infos)[1:]]
    assert netconf_errors.read(Fields(fields)) == (infos, {})


def test_the_value_of_a_key_that_no_entry_has_names_the_object() -> None:
    path = "/srv6mgr-srv6:srv6/locators/locator/name"
    info = ErrorInfo(LIBYANG, "no blanks; rename the locator", path=path)
    fields = [("request", b"word"), *answer.of_infos([info])[1:], ("error-value", b"a b")]
    infos, values = netconf_errors.read(Fields(fields))
    (found,) = netconf_errors.reported(infos, values.get)
    assert found.message == "locator a b: no blanks; rename the locator"
    assert found.path == path


def test_the_path_is_that_of_the_offender() -> None:
    """libyang names the entry that was there before."""
    blue = RED.replace("red", "blue")
    message = f'Unique data leaf(s) "table-id" not satisfied in "{RED}" and "{blue}".'
    held = {f"{RED}/table-id": "100"}.get
    info = ErrorInfo(VALIDATION, f'{message} (path "{RED}")')
    (found,) = netconf_errors.reported([info], lambda _: "100", held)
    assert found.message.startswith("VRF blue: table 100 is already used by VRF red")
    assert found.path == blue


@pytest.mark.parametrize(
    "fields", [[("error-code", b"x")], [("error-code", b"1"), ("error-y", b"")]]
)
def test_a_request_that_cannot_be_read(fields: list[tuple[str, bytes]]) -> None:
    with pytest.raises(ProtocolError, match="request word"):
        netconf_errors.read(Fields(fields))
