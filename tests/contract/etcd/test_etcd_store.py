"""The store in a real cluster: the contract, elections, and members that are killed or cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from srv6net.store.address import EtcdAddress
from srv6net.store.etcd import EtcdStore
from srv6net.store.etcd_client import EtcdClient, put
from srv6net.transaction.executor import Executor, Timing
from srv6net.transaction.ports import BusyError, Store, StoreError
from srv6net.transaction.record import Change, Decision, Revision
from tests.contract.etcd.cluster import Cluster
from tests.fakes.network import FakeRouter, KilledError
from tests.unit.srv6net.store_contract import StoreContract, record

pytestmark = pytest.mark.contract

NAMES = ("pe1", "pe2", "pe3")
RED = {"/vrf[red]": {"name": "red"}}
# begin, touch, decide, and settle for each router.
WRITES = 3 + len(NAMES)
TIMING = Timing(verify=0)
OTHER = (
    '{"id":"other","number":1,"routers":["pe9"],"decision":null,"touched":false,"deferred":[],'
    '"reasons":[],"started":1}'
)


class TestEtcd(StoreContract):
    @pytest.fixture
    def store(self, address: EtcdAddress) -> Iterator[Store]:
        with closing(EtcdStore(address)) as made:
            yield made


class Interrupted(EtcdStore):
    """Calls ``moment`` before and after each write."""

    def __init__(self, address: EtcdAddress, moment: Callable[[], None]) -> None:
        super().__init__(address)
        self._moment = moment

    def _around(self, write: Callable[..., Any], *values: Any) -> Any:
        self._moment()
        result = write(*values)
        self._moment()
        return result

    def begin(self, *values: Any) -> None:
        self._around(super().begin, *values)

    def touch(self, *values: Any) -> None:
        self._around(super().touch, *values)

    def decide(self, *values: Any) -> Decision:
        return Decision(self._around(super().decide, *values))

    def settle(self, *values: Any) -> None:
        self._around(super().settle, *values)


def applied(store: Store, routers: dict[str, FakeRouter]) -> Any:
    changes = {name: Change({}, RED) for name in NAMES}
    revision = Revision(1, routers=dict.fromkeys(NAMES, RED))
    return Executor(store, routers, timing=TIMING).apply(revision, changes)


def assert_as_decided(address: EtcdAddress, routers: dict[str, FakeRouter]) -> None:
    with closing(EtcdStore(address)) as store:
        Executor(store, routers, timing=TIMING).resume()
        last, wanted = store.last(), store.revision().routers
    assert last is None or not last.is_open
    assert {n: r.entries for n, r in routers.items()} == {n: wanted.get(n, {}) for n in NAMES}
    assert [r.awaiting for r in routers.values()] == [None] * len(NAMES)


@pytest.mark.parametrize("has_rolled_back", [False, True])
@pytest.mark.parametrize("death", range(2 * WRITES))
def test_a_controller_that_dies_at_a_write_leaves_nothing_half(
    address: EtcdAddress, death: int, *, has_rolled_back: bool
) -> None:
    moments = count()

    def moment() -> None:
        if next(moments) == death:
            raise KilledError

    routers = {name: FakeRouter() for name in NAMES}
    with closing(Interrupted(address, moment)) as store, suppress(KilledError):
        applied(store, routers)
    assert next(moments) == death + 1
    for one in routers.values() if has_rolled_back else ():
        one.roll_back()
    assert_as_decided(address, routers)


def test_one_controller_leads(address: EtcdAddress) -> None:
    with closing(EtcdStore(address)) as one, closing(EtcdStore(address)) as other:
        with one.lead(), pytest.raises(BusyError, match="another srv6net changes"), other.lead():
            pass
        with other.lead():
            pass


def test_a_controller_without_its_lease_writes_nothing(address: EtcdAddress) -> None:
    with closing(EtcdStore(address)) as store, closing(EtcdClient(address)) as client:
        with store.lead():
            store.begin(record())
            store.touch("one")
            (leader,) = client.below(f"{address.prefix}/leader/")
            client.revoke(int(leader.key.rpartition("/")[2], 16))
            with pytest.raises(StoreError, match="no longer leads"):
                store.decide("one", Decision.COMMITTED, ())
            with pytest.raises(StoreError, match="no longer leads"):
                store.settle("one", "pe1")
        last = store.last()
        assert last is not None
        assert (last.decision, last.settled) == (None, frozenset())


def test_content_of_an_aborted_transaction_goes_with_the_next_one(address: EtcdAddress) -> None:
    with closing(EtcdStore(address)) as store, closing(EtcdClient(address)) as client:
        store.begin(record())
        store.decide("one", Decision.ABORTED, ())
        for router in ("pe1", "pe2"):
            store.settle("one", router)
        store.begin(record(1, "two"))
        assert client.below(f"{address.prefix}/content/one/") == []
        assert store.last() == record(1, "two")


def test_a_controller_that_dies_before_its_transaction_begins_leaves_the_last_one(
    address: EtcdAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: Any) -> bool:
        raise KilledError

    with closing(EtcdStore(address)) as store:
        store.begin(record())
        store.decide("one", Decision.ABORTED, ())
        for router in ("pe1", "pe2"):
            store.settle("one", router)
        with monkeypatch.context() as patch:
            patch.setattr(EtcdStore, "_swapped", dies)
            with pytest.raises(KilledError):
                store.begin(record(1, "two"))
        last = store.last()
        assert last is not None
        assert (last.id, last.changes) == ("one", record().changes)


def test_a_transaction_that_came_too_late_leaves_nothing(address: EtcdAddress) -> None:
    with closing(EtcdStore(address)) as one, closing(EtcdClient(address)) as client:
        begin = one._swapped

        def late(*values: Any) -> bool:
            # Another controller was faster between the read and the write.
            client.txn([], put(f"{address.prefix}/transaction", OTHER))
            return begin(*values)

        one._swapped = late  # type: ignore[method-assign]
        with pytest.raises(BusyError, match="a transaction is open on routers pe9"):
            one.begin(record())
        assert client.below(f"{address.prefix}/content/") == []


def test_a_revision_larger_than_a_request_is_kept(address: EtcdAddress) -> None:
    # Incompressible, and beyond the 1.5 MiB that etcd takes at once.
    intent = {str(n): hash((n, "salt")) ** 8 for n in range(30_000)}
    first = record()
    large = replace(first, proposed=replace(first.proposed, intent=intent))
    with closing(EtcdStore(address)) as store, closing(EtcdClient(address)) as client:
        store.begin(large)
        assert len(client.below(f"{address.prefix}/content/one/revision/")) > 1
        assert store.last() == large


def test_a_store_of_a_newer_version_is_an_error(address: EtcdAddress) -> None:
    with closing(EtcdClient(address)) as client:
        client.txn([], put(f"{address.prefix}/version", "99"))
    with pytest.raises(StoreError, match="it has version 99"):
        EtcdStore(address)


def test_credentials_that_are_wrong_are_reported(cluster: Cluster) -> None:
    with pytest.raises(StoreError, match=r"authentication failed.*correct user and password-file"):
        EtcdStore(cluster.address("/srv6net", user="somebody"))
    with pytest.raises(StoreError, match=r"permission denied.*readwrite on the prefix"):
        EtcdStore(cluster.address("/others"))


@pytest.mark.parametrize("fault", ["kill", "cut_off"])
def test_a_cluster_without_one_member_decides(own_cluster: Cluster, fault: str) -> None:
    """The one that leads the others: after begin, before and after the decision, and later."""
    for death in (1, 4, 5, 8):
        address = own_cluster.address(f"/srv6net-{death}")
        victims = []
        moments = count()

        def moment(death: int = death, moments: Any = moments, victims: Any = victims) -> None:
            if next(moments) == death:
                victims.append(own_cluster.leader())
                getattr(victims[0], fault)()

        routers = {name: FakeRouter() for name in NAMES}
        with closing(Interrupted(address, moment)) as store, store.lead():
            outcome = applied(store, routers)
        assert (outcome.decision, outcome.pending) == (Decision.COMMITTED, {})
        (victim,) = victims
        own_cluster.start(victim) if fault == "kill" else victim.reconnect()
        own_cluster.wait()
        assert_as_decided(address, routers)


def test_without_a_majority_nothing_is_decided_and_nothing_is_lost(own_cluster: Cluster) -> None:
    address = own_cluster.address("/srv6net")
    killed, cut_off, _ = own_cluster.members
    moments = count()

    def moment() -> None:
        # Between the dry run and the first change of a router, and the decision.
        if next(moments) == 4:
            killed.kill()
            cut_off.cut_off()

    routers = {name: FakeRouter() for name in NAMES}
    with closing(Interrupted(address, moment)) as store:
        with pytest.raises(StoreError, match="no majority of its members answers"):
            applied(store, routers)
        own_cluster.start(killed)
        cut_off.reconnect()
        own_cluster.wait()
    for one in routers.values():
        one.roll_back()
    assert_as_decided(address, routers)
    assert {name: one.entries for name, one in routers.items()} == {name: {} for name in NAMES}
