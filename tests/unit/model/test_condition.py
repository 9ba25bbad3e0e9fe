"""Conditions: identity, order of severity, names of types."""

from __future__ import annotations

import re

from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import vrf_path


def test_severities_are_ordered_and_named_as_rfc_8632_has_them() -> None:
    assert [s.text for s in sorted(Severity)] == ["warning", "minor", "major", "critical"]


def test_types_are_yang_identifiers() -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", one) for one in ConditionType)


def test_a_condition_is_identified_by_type_and_resource() -> None:
    one = Condition(
        ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MINOR, "is active", "ping it"
    )
    assert one.key == (ConditionType.BGP_SESSION_DOWN, "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']")
