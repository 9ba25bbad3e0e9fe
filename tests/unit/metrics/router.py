"""State of a router as its readers get it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from srv6mgrd.counters.store_reader import Snapshot, StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.metrics.state import State
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

RED, BLUE, END = "fcbb:0:1:64::/64", "fcbb:0:1:65::/64", "fcbb:0:1:1::/64"
AT = 1_790_000_000_000_000_000

OBSERVED: dict[str, Any] = {
    "srv6mgr-bgp:bgp": {
        "neighbor": [
            {
                "address": "2001:db8::2",
                "state": {
                    "session-state": "established",
                    "established-transitions": 3,
                    "afi-safi": [
                        {"name": "ipv4-vpn", "prefixes": {"accepted": 20, "advertised": 5}}
                    ],
                },
            }
        ]
    },
    "vrfs": {
        "vrf": [
            {
                "name": "red",
                "service": {"service-state": "up"},
                "srv6mgr-bgp:bgp": {
                    "unnumbered-neighbor": [
                        {"interface": "eth1", "state": {"session-state": "active"}}
                    ],
                    "peer-group": [
                        {
                            "name": "sites",
                            "dynamic-neighbor": [
                                {"address": "10.2.0.7", "state": {"session-state": "idle"}}
                            ],
                        }
                    ],
                },
            },
            {"name": "blue", "service": {"service-state": "degraded"}},
        ]
    },
    "interfaces": {
        "interface": [
            {"name": "eth0", "state": {"srv6mgr-interfaces:oper-status": "up"}},
            {"name": "eth1", "state": {"srv6mgr-interfaces:oper-status": "not-present"}},
        ]
    },
    "srv6mgr-path-measurement:path-measurement": {
        "session": [
            {
                "name": "pe2",
                "state": {
                    "path-state": "up",
                    "last-measurement": {
                        "loss-ratio": "0.5",
                        "forward-loss-ratio": "0.5",
                        "round-trip-delay": {"minimum": 900, "median": 1000},
                    },
                },
            }
        ]
    },
}
ACCOUNTING: dict[str, Any] = {
    "srv6mgr-accounting:accounting": {
        "statistics": {
            "sent": [
                {
                    "vrf": "red",
                    "address-family": "ipv4",
                    "segments": "fcbb:0:9:: fcbb:0:2:64::",
                    "segment-list": 'by "nine"\\',
                    "remote-sid": "fcbb:0:2:64::",
                    "remote-locator": "fcbb:0:2::/48",
                    "packets": "25",
                    "inner-octets": "2100",
                    "outer-octets": "18446744073709551615",
                }
            ],
            "received": [
                {
                    "vrf": "blue",
                    "address-family": "ipv6",
                    "source": "2001:db8::2",
                    "packets": "4",
                    "inner-octets": "400",
                    "outer-octets": "560",
                }
            ],
            "other": [
                {
                    "direction": "sent",
                    "address-family": "ipv4",
                    "packets": "1",
                    "inner-octets": "84",
                    "outer-octets": "148",
                }
            ],
        },
    }
}
DROPS: dict[str, Any] = {
    "srv6mgr-accounting:accounting": {
        "drops": {
            "drop": [
                {
                    "sid": RED,
                    "vrf": "red",
                    "reason": "no-route",
                    "certainty": "certain",
                    "packets": "12",
                    "last-seen": "2026-11-25T14:02:11+00:00",
                },
                {"sid": END, "reason": "other", "certainty": "likely", "packets": "1"},
            ]
        },
    }
}
NODE: dict[str, Any] = {
    "srv6mgr-operations:capabilities": {"kernel": "6.12", "frr": "10.3"},
    "srv6mgr-operations:statistics": {"commits": "7", "refused-commits": "1", "repairs": "2"},
    "srv6mgr-operations:storage": {"problem": [{"file": "journal.sqlite"}]},
    "srv6mgr-operations:daemons": {
        "daemon": [
            {
                "name": "srv6mgrd",
                "recent-gap": 12,
                "stage": [{"name": "plan", "count": "3", "total-time": "1500000"}],
                "queue": [{"name": "commits", "length": 2, "longest": 3}],
            }
        ]
    },
}
PROXIES: dict[str, Any] = {
    END: {
        "to-function": {"pkts": "5", "octets": "500"},
        "from-function": {"pkts": "4", "octets": "400"},
        "errors": {"no-srh": "1", "hop-limit": "0"},
    }
}
ALARMS: dict[str, Any] = {
    "summary": {"alarm-summary": [{"severity": "major", "not-cleared": 2, "cleared": 5}]}
}


def fill(writer: StoreWriter, lease: float = 60) -> None:
    """Three SIDs, one of which failed, and two VRFs."""
    installed = InstallStatus.INSTALLED
    writer.set_statuses(
        {
            ObjectRef(Kind.VRF, "red"): ObjectStatus(installed),
            ObjectRef(Kind.SID, RED): ObjectStatus(installed, detail="End.DT46 red", repairs=3),
            ObjectRef(Kind.SID, BLUE): ObjectStatus(
                InstallStatus.FAILED, "no memory", detail="End.DT4 blue"
            ),
            ObjectRef(Kind.VRF, "blue"): ObjectStatus(installed),
            ObjectRef(Kind.SID, END): ObjectStatus(installed, detail="End"),
        }
    )
    counters = {RED: SidCounters((1 << 64) - 1, 840, 1), END: SidCounters(3, 300, 0)}
    writer.set_counters(counters, {}, AT)
    writer.renew_lease(lease)


def snapshot(folder: Path, lease: float = 60) -> Snapshot:
    """Of a store with what ``fill`` puts there."""
    writer = StoreWriter(folder / "store")
    fill(writer, lease)
    writer.close()
    reader = StoreReader(folder / "store")
    found = reader.snapshot()
    reader.close()
    return found


def state(folder: Path, lease: float = 60) -> State:
    """All of it."""
    return State(snapshot(folder, lease), NODE, OBSERVED, ACCOUNTING, DROPS, PROXIES, ALARMS)
