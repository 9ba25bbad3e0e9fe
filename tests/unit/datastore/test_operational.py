"""Which entry a reader asks for."""

import pytest

from srv6mgrd.datastore.operational import wanted_key, with_proxies

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


def test_sids_of_proxies_show_their_state() -> None:
    sids = {"sid": [{"prefix": "fcbb:0:1:1::/64", "state": {}}, {"prefix": "fcbb:0:1:2::/64"}]}
    state = {"errors": {"no-srh": "1"}}

    found = with_proxies(sids, {"fcbb:0:1:2::/64": state})

    assert [entry.get("srv6mgr-proxy:proxy") for entry in found["sid"]] == [None, {"state": state}]
