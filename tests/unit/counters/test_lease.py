"""A store says how long its statuses are current; readers see them as unknown after that."""

import threading
import time

import pytest

from srv6mgrd.counters import lease
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus

RED = ObjectRef(Kind.VRF, "red")
SID = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1, last_repair=2, repairs=3)
STATUSES = {RED: INSTALLED, SID: INSTALLED}


@pytest.fixture
def writer(tmp_path):
    writer = StoreWriter(tmp_path / "store", capacity=4)
    writer.set_statuses(STATUSES)
    yield writer
    writer.close()


@pytest.fixture
def reader(writer, tmp_path):
    reader = StoreReader(tmp_path / "store")
    yield reader
    reader.close()


def test_without_a_lease_statuses_are_current(reader):
    assert reader.objects() == STATUSES


def test_within_its_lease_statuses_are_current(writer, reader):
    before = reader.generation
    writer.renew_lease(60)
    assert reader.objects() == STATUSES
    assert reader.generation == before


def test_after_its_lease_every_status_is_unknown(writer, reader):
    began = time.time_ns()
    writer.renew_lease(0)
    found = reader.objects()
    assert found.keys() == STATUSES.keys()
    for status in found.values():
        assert status.status is InstallStatus.UNKNOWN
        assert "srv6mgrd does not report" in status.reason
        assert began <= status.since <= time.time_ns()
        assert status.repairs == 3


def test_expiry_and_renewal_move_the_generation(writer, reader):
    before = reader.generation
    writer.renew_lease(0)
    expired = reader.generation
    assert expired != before
    assert reader.records().generation == expired
    writer.renew_lease(60)
    assert reader.generation == before
    assert reader.objects() == STATUSES


def test_a_restart_within_the_lease_goes_unnoticed(writer, reader, tmp_path):
    writer.renew_lease(60)
    writer.close()
    restarted = StoreWriter(tmp_path / "store")
    assert restarted.statuses() == STATUSES
    assert reader.objects() == STATUSES


def test_a_restart_after_the_lease_vouches_for_nothing_yet(writer, reader, tmp_path):
    writer.renew_lease(0)
    writer.close()
    restarted = StoreWriter(tmp_path / "store")
    assert restarted.statuses() == STATUSES
    assert {s.status for s in reader.objects().values()} == {InstallStatus.UNKNOWN}
    restarted.renew_lease(60)
    assert reader.objects() == STATUSES


def test_a_store_that_grows_keeps_its_lease(writer, reader):
    writer.renew_lease(0)
    writer.set_statuses({ObjectRef(Kind.VRF, f"v{n}"): INSTALLED for n in range(9)})
    assert {s.status for s in reader.objects().values()} == {InstallStatus.UNKNOWN}


def test_nothing_is_renewed_before_the_statuses_are_reported(writer, reader):
    writer.renew_lease(0)
    asked = threading.Event()

    def reported():
        asked.set()
        return False

    with lease.held(writer, 60, reported):
        assert asked.wait(5)
    assert {s.status for s in reader.objects().values()} == {InstallStatus.UNKNOWN}


def test_a_held_lease_is_renewed_while_the_event_loop_is_busy(writer, reader):
    with lease.held(writer, 0.2, lambda: True):
        until = time.monotonic() + 1
        while time.monotonic() < until:
            assert reader.objects() == STATUSES
