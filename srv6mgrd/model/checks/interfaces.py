"""Roles of interfaces: of those that others connect to."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model.checks.names import interface_path
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.refusal import Refusal


def check(desired: Desired) -> Iterator[Refusal]:
    for name in desired.roles:
        if why := taken(desired, name):
            yield Refusal(
                f"interface {name}",
                f"it {why}",
                "give roles to interfaces that others connect to",
                "interface-reserved",
                interface_path(name),
            )
