from __future__ import annotations

from ipaddress import IPv6Network

from srv6mgrd.stamp.assignments import ReflectorAssignment
from srv6mgrd.stamp.reflector import Reflector

ALLOWED = (IPv6Network("2001:db8::/32"),)


async def test_it_says_in_which_vrfs_it_does_not_listen() -> None:
    reflector = Reflector()
    allowed = dict.fromkeys(("", "no-vrf-1", "no-vrf-2"), ALLOWED)
    reflector.configure(ReflectorAssignment(0, allowed))
    try:
        assert reflector.is_listening
        # Behind a semicolon is the remedy.
        assert reflector.problem == (
            "IPv6 port 0 of VRF no-vrf-1 cannot be used: No such device,"
            " IPv6 port 0 of VRF no-vrf-2 cannot be used: No such device"
        )
    finally:
        reflector.close()
