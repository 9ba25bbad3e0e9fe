"""Interfaces that IS-IS can't be spoken on."""

from dataclasses import replace

import pytest

from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Role
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.rejection import RejectedError
from tests.builders import desired, locator, vrf

AT = "/srv6mgr-srv6:srv6/srv6mgr-isis:isis/interface"


def speaking(*names):
    interfaces = tuple(map(IsisInterface, names))
    red = replace(vrf("red", 10), interfaces=("to-ce",))
    found = desired(locator(), red)
    roles = {"to-customer": Role.CUSTOMER, "to-p": Role.CORE}
    isis = Isis("49.0001", "0000.0000.0001", "MAIN", interfaces=interfaces)
    return replace(found, roles=roles, isis=isis)


def test_interfaces_of_the_underlay():
    check(speaking("lo", "to-p", "eth7"))


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("to-ce", "it is in VRF red"),
        ("to-customer", "it has the role customer"),
        ("red", "it is a VRF"),
        ("srv6mgr", "it carries the local SIDs"),
    ],
)
def test_interfaces_of_others(name, cause):
    with pytest.raises(RejectedError) as rejected:
        check(speaking("lo", name))

    (rejection,) = rejected.value.rejections
    assert (rejection.object, rejection.cause) == (f"IS-IS interface {name}", cause)
    assert rejection.path == f"{AT}[name='{name}']"
