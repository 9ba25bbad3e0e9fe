"""Rows of accounting, on every way that shows them."""

from __future__ import annotations

import json
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library import gnmi, metrics, sonic
from tests.robot.library.cli import run
from tests.robot.library.network import node

_XPATH = "/srv6mgr-srv6:srv6/srv6mgr-accounting:accounting/statistics"
# (direction, VRF, family, remote) -> packets
Matrix = dict[tuple[str, str, str, str], int]


def shown(name: str) -> Matrix:
    """By ``srv6ctl show accounting``."""
    done = run(name, "show accounting --json")
    entries = json.loads(done.stdout)["accounting"] if done.returncode == 0 else []
    return {
        (e["direction"], e["vrf"], e["address-family"], e.get("remote-sid") or e["source"]): int(
            e["packets"]
        )
        for e in entries
        if "vrf" in e
    }


def _matrix(statistics: dict[str, Any]) -> Matrix:
    rows = [("sent", e, e["segments"].split()[-1]) for e in statistics.get("sent", ())]
    rows += [("received", e, e["source"]) for e in statistics.get("received", ())]
    return {(way, e["vrf"], e["address-family"], at): int(e["packets"]) for way, e, at in rows}


def _over_gnmi(name: str) -> Matrix:
    path = gnmi.full_path("srv6mgr-accounting:accounting/statistics")
    (found,) = gnmi.session(name).get(path)
    return _matrix(gnmi.bare(found))


def _in_sysrepo(name: str) -> Matrix:
    """As NETCONF reads it."""
    command = ["sysrepocfg", "-X", "-d", "operational", "-f", "json", "-x", _XPATH]
    found = json.loads(node(name).run(command).stdout)
    return _matrix(found["srv6mgr-srv6:srv6"]["srv6mgr-accounting:accounting"]["statistics"])


def _in_redis(name: str) -> Matrix:
    found = {}
    with sonic.client(name, 6) as database:
        for key in database.scan_iter("SRV6MGR_ACCOUNTING|*"):
            _, way, vrf, family, remote = key.split("|")
            packets = database.hget(key, "packets")
            found[way, vrf, family, remote.split(",")[-1]] = int(str(packets))
    return found


def _in_metrics(name: str) -> Matrix:
    found = {}
    for way, remote in (("sent", "remote_sid"), ("received", "source")):
        metric = f"srv6_accounting_{way}_packets_total"
        for labels, value in metrics.samples(name, metric, "accounting"):
            found[way, labels["vrf"], labels["family"], labels[remote]] = int(value)
    return found


@library(scope="GLOBAL", auto_keywords=True)
class Accounting:
    """What is counted between a router and each remote one."""

    def __init__(self) -> None:
        self._before: dict[str, Matrix] = {}

    def note_accounting(self, *names: str) -> None:
        """The rows of these routers as they are now."""
        self._before = {name: shown(name) for name in names}

    def accounted_since(self, name: str, row: str, packets: int) -> None:
        """Exactly so many packets were counted since ``Note Accounting`` in this row (direction,
        VRF, family and remote), and none in any other of its direction and VRF."""
        before = self._before[name]
        direction, vrf, family, remote = row.split()
        wanted = {(direction, vrf, family, remote): int(packets)}

        def moved() -> Matrix:
            return {
                key: now - before.get(key, 0)
                for key, now in shown(name).items()
                if key[:2] == (direction, vrf) and now != before.get(key, 0)
            }

        wait_until(lambda: moved() == wanted, f"{name}: {wanted}", 15, seen=moved)

    def accounting_is_the_same_everywhere(self, name: str) -> None:
        """srv6ctl, gNMI, sysrepo's operational datastore, Redis and metrics show the same rows."""
        ways = (shown, _over_gnmi, _in_sysrepo, _in_redis, _in_metrics)

        def seen() -> list[Matrix]:
            return [way(name) for way in ways]

        def alike() -> bool:
            found = seen()
            return bool(found[0]) and all(one == found[0] for one in found)

        wait_until(alike, f"{name}: the same rows on {len(ways)} ways", 15, seen=seen)

    def vrfs_accounted_on(self, name: str, *vrfs: str) -> None:
        """Rows are shown of these VRFs and no other."""

        def seen() -> set[str]:
            return {key[1] for key in shown(name)}

        wait_until(lambda: seen() == set(vrfs), f"{name}: rows of {vrfs}", 15, seen=seen)
