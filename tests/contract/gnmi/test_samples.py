"""Subscriptions to samples (gnmi-specification.md 3.5.1.5.2), and to what the target defines."""

from __future__ import annotations

import time
from typing import Any

from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, subscription, updates
from tests.contract.gnmi.data import ENTRY, INSTALLED, RED, SID, SID_REF

ONCE, POLL = pb.SubscriptionList.ONCE, pb.SubscriptionList.POLL


def test_sample_sends_every_interval_with_the_time_of_the_sample(
    router: Client, core: Core
) -> None:
    core.report({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)}, at=42)
    counters = subscription(f"{ENTRY}/state/counters/in-pkts", pb.SAMPLE, sample_interval=0.2)
    with router.subscribe(counters, encoding=pb.PROTO) as stream:
        stream.until_sync()
        started = time.monotonic()
        for _ in range(5):
            sample = stream.next().update
            assert updates(sample) == {f"{ENTRY}/state/counters/in-pkts": 1}
            assert sample.timestamp == 42
        assert 0.9 < time.monotonic() - started < 5


def test_suppress_redundant_sends_only_what_changed(router: Client, core: Core) -> None:
    core.report({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)})
    counters = subscription(
        f"{ENTRY}/state/counters", pb.SAMPLE, sample_interval=0.1, suppress_redundant=True
    )
    with router.subscribe(counters) as stream:
        assert len(stream.until_sync()) == 4
        assert stream.quiet()
        core.count({SID: SidCounters(2, 100, 0, 5)})
        assert updates(stream.next().update) == {f"{ENTRY}/state/counters/in-pkts": "2"}
        assert stream.quiet()


def test_heartbeats(router: Client) -> None:
    table = f"{RED}/table-id"
    for asked in (
        subscription(table, pb.ON_CHANGE, heartbeat_interval=0.3),
        subscription(
            table, pb.SAMPLE, sample_interval=0.1, suppress_redundant=True, heartbeat_interval=0.3
        ),
    ):
        with router.subscribe(asked) as stream:
            stream.until_sync()
            started = time.monotonic()
            for _ in range(3):
                assert updates(stream.next().update) == {table: 100}
            assert 0.7 < time.monotonic() - started < 5


def test_target_defined_is_on_change_for_status_and_sampled_for_counters(
    router: Client, core: Core
) -> None:
    core.report({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)})
    with router.subscribe(subscription(f"{ENTRY}/state", pb.TARGET_DEFINED)) as stream:
        assert len(stream.until_sync()) == 8
        for _ in range(2):
            assert all("/counters/" in p for p in updates(stream.next().update))
        core.report({SID_REF: ObjectStatus(InstallStatus.DRIFTED, "gone", since=1_000_000_000)})
        seen: dict[str, Any] = {}
        while f"{ENTRY}/state/install-status" not in seen:
            seen |= updates(stream.next().update)
        assert seen[f"{ENTRY}/state/install-status"] == "drifted"


def test_counters_of_all_sids_are_those_of_each(router: Client, core: Core) -> None:
    """All at once they are sent as they are stored; one by one they are read leaf by leaf."""
    others = [f"fcbb:0:1:{n:x}::/64" for n in (0x201, 0x202, 0x203)]
    router.set(
        update={
            f"/srv6/local-sids/sid[prefix={p}]": {"locator": "main", "behavior": "End"}
            for p in others
        }
    )
    sids = [SID, *others]
    core.report({ObjectRef(Kind.SID, p): INSTALLED for p in sids})
    core.count({p: SidCounters(n, 100 * n, 3, 1_000_000_000) for n, p in enumerate(sids, 1)})
    core.store.clear_counters([others[0]], time.time_ns())
    paths = [f"/srv6/local-sids/sid[prefix={p}]/state/counters" for p in sids]
    for encoding in (pb.PROTO, pb.JSON_IETF, pb.JSON, pb.ASCII):
        with router.subscribe(*map(subscription, paths), mode=ONCE, encoding=encoding) as stream:
            each = stream.until_sync()
        whole = subscription("/srv6/local-sids/sid/state/counters")
        with router.subscribe(whole, mode=ONCE, encoding=encoding) as stream:
            assert stream.until_sync() == each
        assert len(each) == 4 * len(sids)
