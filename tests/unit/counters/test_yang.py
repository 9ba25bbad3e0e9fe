"""The SIDs that a VRF advertises, there and back through the text that the store holds."""

from ipaddress import IPv6Network

import pytest

from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.counters.yang import advertised, advertised_detail
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus

LONG = "2001:db8:1111:2222:3333:4444:5555:666%d/128"
V4, V6 = LONG % 4, LONG % 6


@pytest.mark.parametrize(
    ("declared", "leaves"),
    [
        ((V4, None, None), {"advertised-sid": V4}),
        ((None, V4, V6), {"advertised-sid-ipv4": V4, "advertised-sid-ipv6": V6}),
        ((None, V4, None), {"advertised-sid-ipv4": V4}),
        ((None, None, V6), {"advertised-sid-ipv6": V6}),
        ((None, None, None), {}),
    ],
)
def test_advertised(declared, leaves, tmp_path):
    detail = advertised_detail(*(IPv6Network(d) if d else None for d in declared))
    ref = ObjectRef(Kind.VRF_BGP, "red")
    store = StoreWriter(tmp_path / "store", capacity=8)
    store.set_statuses({ref: ObjectStatus(InstallStatus.INSTALLED, detail=detail)})
    store.close()
    reader = StoreReader(tmp_path / "store")
    assert advertised(reader.objects()[ref].detail) == leaves
    reader.close()
