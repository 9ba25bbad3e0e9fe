"""SIDs in the words of IETF and OpenConfig, live and read-only (docs/projections.md)."""

from __future__ import annotations

import re

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, deletes, failing, subscription, updates
from tests.contract.gnmi.data import SID, SRV6

REF, MAIN = ObjectRef(Kind.SID, SID), ObjectRef(Kind.LOCATOR, "main")
INSTALLED = ObjectStatus(InstallStatus.INSTALLED)
IETF = "/ietf-routing:routing/ietf-segment-routing:segment-routing/ietf-srv6-base:srv6/sids"
SHOWN = "/routing/segment-routing/srv6/sids"
INSTANCE = "/network-instances/network-instance[name=DEFAULT]"
AFTS = f"{INSTANCE}/afts"
BLOCK = f"{INSTANCE}/segment-routing/srlbs/srlb[local-id=main]"
ENTRY = f"{AFTS}/ipv6-unicast/ipv6-entry[prefix={SID}]"
COUNTED = f"{AFTS}/counters/ipv6-unicast/ipv6-entry[prefix={SID}]"


@pytest.fixture
def router(gnmi: Client, core: Core) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    core.report({REF: INSTALLED})
    core.count({SID: SidCounters(7, 700, 1, 1)})
    return gnmi


def test_ietf_state_of_a_sid(router: Client) -> None:
    assert router.value(f"{IETF}/sid[sid={SID}]") == {
        "ietf-srv6-base:sid": SID,
        "ietf-srv6-base:behavior": "ietf-srv6-types:End.DT46",
        "ietf-srv6-base:locator": "main",
        "ietf-srv6-base:allocation": {
            "alloc-type": "Explicit",
            "owner": [{"type": "ietf-srv6-types:static", "instance": "srv6mgr", "is-winner": True}],
        },
        "ietf-srv6-base:forwarding": {"is-installed": True},
        "ietf-srv6-base:counters": {"success": {"in-pkts": "7", "in-octets": "700"}},
    }
    leaf = f"sid[sid={SID}]/counters/success/in-pkts"
    for asked in (f"{IETF}/{leaf}", f"ietf:{SHOWN}/{leaf}"):
        assert router.get(asked) == {f"{SHOWN}/{leaf}": "7"}
    whole = router.get("ietf:/", encoding=pb.PROTO)
    assert whole[f"{SHOWN}/sid[sid={SID}]/counters/success/in-octets"] == 700


def test_openconfig_afts_show_a_sid(router: Client) -> None:
    assert router.value(f"openconfig:{ENTRY}", encoding=pb.JSON) == {
        "prefix": SID,
        "state": {
            "prefix": SID,
            "origin-protocol": "STATIC",
            "decapsulate-header": "IPV6",
            "next-hop-group-network-instance": "red",
        },
    }
    for origin in ("", "openconfig:"):
        assert router.get(f"{origin}{COUNTED}/state/packets-forwarded") == {
            f"{COUNTED}/state/packets-forwarded": "7"
        }
    every = f"{AFTS}/counters/ipv6-unicast/ipv6-entry/state/octets-forwarded"
    assert router.get(every) == {f"{COUNTED}/state/octets-forwarded": "700"}


def test_openconfig_shows_a_locator_as_a_local_block(router: Client, core: Core) -> None:
    assert failing(router.raw_get, BLOCK)[0] is grpc.StatusCode.NOT_FOUND
    core.report({REF: INSTALLED, MAIN: INSTALLED})
    assert router.value(f"openconfig:{BLOCK}") == {
        "openconfig-network-instance:local-id": "main",
        "openconfig-network-instance:state": {
            "local-id": "main",
            "dataplane-type": "IPV6",
            "ipv6-prefix": "fcbb:0:1::/48",
        },
    }
    whole = router.get("openconfig:/", encoding=pb.PROTO)
    assert whole[f"{BLOCK}/state/ipv6-prefix"] == "fcbb:0:1::/48"
    assert whole[f"{ENTRY}/state/prefix"] == SID
    every = f"{INSTANCE}/segment-routing/srlbs/srlb/state/ipv6-prefix"
    with router.subscribe(subscription(every)) as stream:
        assert stream.until_sync() == {f"{BLOCK}/state/ipv6-prefix": "fcbb:0:1::/48"}
        core.report({REF: INSTALLED, MAIN: ObjectStatus(InstallStatus.PENDING, "wait")})
        # As far as it was subscribed to.
        assert deletes(stream.next().update) == [f"{BLOCK}/state/ipv6-prefix"]
        core.report({REF: INSTALLED, MAIN: INSTALLED})
        reported = updates(stream.next().update)
        assert reported == {f"{BLOCK}/state/ipv6-prefix": "fcbb:0:1::/48"}


def test_a_sid_into_the_default_vrf_is_looked_up_there(router: Client) -> None:
    sid = f"/srv6/local-sids/sid[prefix={SID}]"
    router.set(delete=[f"{sid}/vrf"], update={f"{sid}/default-vrf": True})
    lookup = f"{ENTRY}/state/next-hop-group-network-instance"
    assert router.get(lookup) == {lookup: "DEFAULT"}


def test_only_what_is_installed_is_in_the_afts(router: Client, core: Core) -> None:
    core.report({REF: ObjectStatus(InstallStatus.FAILED, "no")})
    code, _ = failing(router.raw_get, ENTRY)
    assert code is grpc.StatusCode.NOT_FOUND
    installed = f"{IETF}/sid[sid={SID}]/forwarding/is-installed"
    assert list(router.get(installed).values()) == [False]


def test_a_sid_that_does_not_count_has_no_counters(router: Client) -> None:
    router.set(update={f"/srv6/local-sids/sid[prefix={SID}]/counters": False})
    for path in (COUNTED, f"{IETF}/sid[sid={SID}]/counters"):
        assert failing(router.raw_get, path)[0] is grpc.StatusCode.NOT_FOUND


def test_views_are_not_part_of_our_tree(router: Client) -> None:
    assert set(router.value("/", encoding=pb.JSON)) == {"srv6"}
    assert not [p for p in router.get("/...", encoding=pb.PROTO) if not p.startswith("/srv6")]


def test_views_can_not_be_set(router: Client) -> None:
    for path in (f"{ENTRY}/state/prefix", f"openconfig:{ENTRY}/state/prefix"):
        code, text = failing(router.set, update={path: SID})
        assert code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT), text


def test_views_are_reported_on_change(router: Client, core: Core) -> None:
    installed = f"{SHOWN}/sid[sid={SID}]/forwarding/is-installed"
    with router.subscribe(
        subscription(f"{IETF}/sid/forwarding"), subscription(f"{AFTS}/ipv6-unicast")
    ) as stream:
        first = stream.until_sync()
        assert first[installed] is True
        assert f"{ENTRY}/state/origin-protocol" in first
        core.report({REF: ObjectStatus(InstallStatus.PENDING, "wait")})
        reported = stream.next().update
        assert updates(reported) == {installed: False}
        assert deletes(reported) == [ENTRY]
        core.report({REF: INSTALLED})
        reported = updates(stream.next().update)
        assert reported[installed] is True
        assert reported[f"{ENTRY}/state/prefix"] == SID
        router.set(delete=["/srv6/local-sids"])
        reported = stream.next().update
        assert not reported.update
        assert deletes(reported) == [f"{SHOWN}/sid[sid={SID}]/forwarding", ENTRY]


def test_counters_of_views_are_sampled_and_reported_on_change(router: Client, core: Core) -> None:
    counted = subscription(f"openconfig:{COUNTED}", pb.SAMPLE, sample_interval=0.2)
    packets = f"{COUNTED}/state/packets-forwarded"
    with router.subscribe(counted) as stream:
        assert stream.until_sync()[packets] == "7"
        core.count({SID: SidCounters(8, 800, 1, 1)})
        while (
            packets not in (reported := updates(stream.next().update)) or reported[packets] == "7"
        ):
            pass
        assert reported[packets] == "8"
    ietf = subscription(f"{IETF}/sid[sid={SID}]/counters")
    with router.subscribe(ietf) as stream:
        stream.until_sync()
        core.count({SID: SidCounters(9, 800, 1, 1)})
        reported = updates(stream.next().update)
        assert reported == {f"{SHOWN}/sid[sid={SID}]/counters/success/in-pkts": "9"}


EVERY = "/srv6/local-sids/sid/state/counters/in-pkts"


@pytest.mark.parametrize(
    "asked",
    [
        f"ietf:{SHOWN}/sid/counters/success/in-pkts",
        f"openconfig:{COUNTED}/state/packets-forwarded",
        f"srv6mgr:{EVERY}",
        f"srv6mgr-srv6:/srv6/local-sids/sid[prefix={SID}]/state",
        EVERY,
    ],
)
def test_a_leaf_comes_back_under_the_origin_it_was_asked_under(
    router: Client, core: Core, asked: str
) -> None:
    """2.2.2: in its path where the request had it there, in the prefix where that had it."""
    origin, where = re.fullmatch(r"(?:([\w-]+):)?(/.*)", asked).groups("")  # type: ignore[union-attr]
    for encoding in (pb.JSON_IETF, pb.PROTO, pb.ASCII):
        (got,) = router.raw_get(asked, encoding=encoding).notification
        assert {u.path.origin for u in got.update} == {origin}
        assert not got.HasField("prefix")
    prefix = pb.Path(origin=origin)
    (got,) = router.raw_get(where, prefix=prefix).notification
    assert ({u.path.origin for u in got.update}, got.prefix.origin) == ({""}, origin)
    for mode, more in ((pb.ON_CHANGE, {}), (pb.SAMPLE, {"sample_interval": 0.1})):
        with router.subscribe(subscription(asked, mode, **more)) as stream:
            first = stream.next().update
            assert {u.path.origin for u in first.update} == {origin}
            while not stream.next().sync_response:
                continue
            core.count({SID: SidCounters(8 + mode, 800 + mode, 1, 1)})
            reported = stream.next().update
            assert {u.path.origin for u in reported.update} == {origin}


def test_a_delete_comes_under_the_origin_too(router: Client) -> None:
    asked = f"openconfig:{ENTRY}/state/decapsulate-header"
    with router.subscribe(subscription(asked)) as stream:
        stream.until_sync()
        router.set(delete=["/srv6/local-sids"])
        assert {d.origin for d in stream.next().update.delete} == {"openconfig"}
