from __future__ import annotations

from ipaddress import IPv6Address

import pytest

from srv6mgrd.stamp import sockets


@pytest.mark.parametrize("address", ["::", "::1", "ff05::2", "ff0e::1", "2001:db8::ffff"])
def test_answers_come_from_no_address_that_tells_no_router_from_others(address: str) -> None:
    assert not sockets.is_own(IPv6Address(address))
