"""Which SID an argument names."""

import pytest

from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.sid_argument import chosen

DECLARED = {"fcbb:0:1::/48", "fcbb:0:1:64::/64", "fcbb:0:1:64::7/128"}


@pytest.mark.parametrize(
    ("wanted", "prefix"),
    [
        ("fcbb:0:1:64::/64", "fcbb:0:1:64::/64"),
        ("fcbb:0:1:64::", "fcbb:0:1:64::/64"),
        ("FCBB:0:1:0064::9", "fcbb:0:1:64::/64"),
        ("fcbb:0:1:64::7", "fcbb:0:1:64::7/128"),
        ("fcbb:0:1:65::", "fcbb:0:1::/48"),
        ("fcbb:0:1:64:1::/80", "fcbb:0:1:64::/64"),
    ],
)
def test_by_prefix_or_address(wanted, prefix):
    assert chosen(wanted, DECLARED) == prefix


@pytest.mark.parametrize("wanted", ["fcbb:0:2::", "fcbb::/32", "::"])
def test_not_declared(wanted):
    with pytest.raises(Problem, match=f"SID {wanted}: it is not declared; see srv6ctl show sids"):
        chosen(wanted, DECLARED)


@pytest.mark.parametrize("wanted", ["red", "10.0.0.1", "fcbb:0:1:64::1/64", "fcbb::/129", ""])
def test_no_sid_at_all(wanted):
    with pytest.raises(Problem, match="it is no IPv6 prefix or address") as raised:
        chosen(wanted, DECLARED)
    assert raised.value.status is Exit.USAGE
