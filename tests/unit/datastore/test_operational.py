"""Which entry a reader asks for."""

import pytest

from srv6mgrd.datastore.operational import wanted_key

SIDS = "/srv6mgr-srv6:srv6/local-sids"


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (f"{SIDS}/sid[prefix='fc00::/64']", "fc00::/64"),
        (f'{SIDS}/sid[prefix="fc00::/64"]/state/counters', "fc00::/64"),
        (f"{SIDS}/srv6mgr-srv6:sid[prefix='fc00::/64']", "fc00::/64"),
        (f"{SIDS}/sid", None),
        (f"{SIDS}/sid[behavior='End']", None),
        (f"{SIDS}/sid[behavior='End'][prefix='x']", None),
        (f"{SIDS}/sid[prefix='a'] | {SIDS}/sid[prefix='b']", None),
        (f"{SIDS}/sid[prefix='a' or prefix='b']", None),
        ("/srv6mgr-srv6:srv6//*", None),
        ("", None),
    ],
)
def test_wanted_key(asked: str, key: str | None) -> None:
    assert wanted_key("local-sids", asked) == key
