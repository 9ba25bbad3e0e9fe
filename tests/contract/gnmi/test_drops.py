"""Reasons of drops, which have a file beside the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv6Network

import pytest

from srv6mgrd.counters.accounting import AccountingWriter
from srv6mgrd.counters.drops import PART, beside, reasons
from srv6mgrd.model.drops import Certainty, Drop, DropReason
from tests.contract.gnmi.client import Client, Core, subscription, updates

_SINCE = 1_764_000_000_000_000_000
_DROPS = "/srv6/accounting/drops"
_NO_SRH = f"{_DROPS}/drop[reason=no-srh][sid=fcbb:0:1:64::/64]"
Report = Callable[..., None]


@pytest.fixture
def report(core: Core) -> Iterator[Report]:
    """Have srv6mgrd report packets by reason."""
    file = beside(core.node_file.with_name("store"))
    writer = AccountingWriter(file, part=PART)

    def write(**packets: int) -> None:
        prefix = IPv6Network("fcbb:0:1:64::/64")
        found = [
            Drop(
                prefix, "red", DropReason(name.replace("_", "-")), Certainty.CERTAIN, count, _SINCE
            )
            for name, count in packets.items()
        ]
        writer.write(reasons(found, _SINCE))

    yield write
    file.unlink(missing_ok=True)


def test_get(gnmi: Client, report: Report) -> None:
    report(no_srh=3)
    found = gnmi.value(_DROPS)
    assert found["srv6mgr-accounting:drop"] == [
        {
            "sid": "fcbb:0:1:64::/64",
            "reason": "no-srh",
            "vrf": "red",
            "certainty": "certain",
            "packets": "3",
            "last-seen": found["srv6mgr-accounting:drop"][0]["last-seen"],
        }
    ]


def test_on_change(gnmi: Client, report: Report) -> None:
    """A reason that is new, and counts that go on, and nothing of the others."""
    report(no_srh=3)
    with gnmi.subscribe(subscription(f"{_DROPS}/drop")) as stream:
        assert stream.until_sync()[f"{_NO_SRH}/packets"] == "3"
        report(no_srh=3, vrf_gone=1)
        reported = updates(stream.next().update)
        assert reported[f"{_NO_SRH.replace('no-srh', 'vrf-gone')}/vrf"] == "red"
        assert not any(path.startswith(_NO_SRH) for path in reported)
        report(no_srh=5, vrf_gone=1)
        assert updates(stream.next().update) == {f"{_NO_SRH}/packets": "5"}
        assert stream.quiet()
