"""Reasons of drops, on every way that shows them."""

from __future__ import annotations

import json
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library import gnmi, metrics, sonic
from tests.robot.library.cli import run
from tests.robot.library.network import node

_XPATH = "/srv6mgr-srv6:srv6/srv6mgr-accounting:accounting/drops"
# (SID, reason) -> (VRF, certainty, packets)
Drops = dict[tuple[str, str], tuple[str, str, int]]


def shown(name: str) -> Drops:
    """By ``srv6ctl show drops``."""
    done = run(name, "show drops --json")
    return _drops(json.loads(done.stdout)["drops"]) if done.returncode == 0 else {}


def _drops(entries: list[dict[str, Any]]) -> Drops:
    return {
        (e["sid"], e["reason"]): (e.get("vrf", ""), e["certainty"], int(e["packets"]))
        for e in entries
    }


def _over_gnmi(name: str) -> Drops:
    path = gnmi.full_path("srv6mgr-accounting:accounting/drops")
    (found,) = gnmi.session(name).get(path)
    return _drops(gnmi.bare(found).get("drop", []))


def _in_sysrepo(name: str) -> Drops:
    """As NETCONF reads it."""
    command = ["sysrepocfg", "-X", "-d", "operational", "-f", "json", "-x", _XPATH]
    found = json.loads(node(name).run(command).stdout)
    top = found["srv6mgr-srv6:srv6"]["srv6mgr-accounting:accounting"]
    return _drops(top["drops"].get("drop", []))


def _in_redis(name: str) -> Drops:
    found: Drops = {}
    with sonic.client(name, 6) as database:
        for key in database.scan_iter("SRV6MGR_DROPS|*"):
            _, sid, reason = key.split("|")
            row = {str(k): str(v) for k, v in database.hgetall(key).items()}
            found[sid, reason] = row.get("vrf", ""), row["certainty"], int(row["packets"])
    return found


def _in_metrics(name: str) -> Drops:
    found = metrics.samples(name, "srv6_dropped_packets_total", "drop")
    return {
        (labels["sid"], labels["reason"]): (labels["vrf"], labels["certainty"], int(value))
        for labels, value in found
    }


@library(scope="GLOBAL", auto_keywords=True)
class DropReasons:
    """Why packets to SIDs are dropped."""

    def wait_for_drops(self, name: str, sid: str, reason: str) -> None:
        """Packets to the SID were dropped for this reason."""
        wait_until(lambda: (sid, reason) in shown(name), f"{name}: {sid} {reason}", 15)

    def drops_are_reported_everywhere(self, name: str, sid: str, reason: str, vrf: str) -> None:
        """srv6ctl, gNMI, sysrepo's operational datastore, Redis and metrics show the same, among
        it this reason, which is certain."""
        ways = (shown, _over_gnmi, _in_sysrepo, _in_redis, _in_metrics)

        def seen() -> list[Drops]:
            return [way(name) for way in ways]

        def alike() -> bool:
            first, *others = seen()
            is_certain = first.get((sid, reason), ("", "", 0))[:2] == (vrf, "certain")
            return is_certain and all(one == first for one in others)

        wait_until(alike, f"{name}: {sid} {reason} on {len(ways)} ways", 15, seen=seen)
