"""OSPF and IS-IS neighbors, of what their daemons print."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

from srv6mgrd.frr.adjacencies import Adjacencies
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.ospf import Ospf, OspfInterface

V2 = Ospf("red", 2, IPv4Address("10.0.0.1"), (OspfInterface("eth1"),))
DESIRED = Desired(ospf={"red": V2}, ospfv3={"red": replace(V2, version=3)})


class Daemons:
    def __init__(self, ms: int = 16244, duration: str = "00:00:16") -> None:
        self.ms, self.duration = ms, duration
        self.circuits: list[dict[str, Any]] = []

    def show(self, daemon: str, command: str) -> str:
        if command == "show isis neighbor json":
            return json.dumps({"areas": [{"area": "srv6mgr", "circuits": self.circuits}]})
        if command == "show ip ospf vrf red neighbor json":
            entry = {
                "nbrState": "Full/DR",
                "converged": "Full",
                "upTimeInMsec": self.ms,
                "ifaceAddress": "10.1.0.10",
                "ifaceName": "eth1:10.1.0.1",
            }
            other = {**entry, "nbrState": "2-Way/DROther", "converged": "2-Way"}
            return json.dumps({"red": {"neighbors": {"10.0.0.9": [entry], "10.0.0.8": [other]}}})
        assert command == "show ipv6 ospf6 vrf red neighbor json"
        entry = {
            "neighborId": "10.0.0.9",
            "state": "ExChange",
            "duration": self.duration,
            "interfaceName": "eth1",
        }
        unknown = {**entry, "neighborId": "0.0.0.0", "state": "Init"}
        return json.dumps({"neighbors": [unknown, entry, {**entry, "interfaceName": "other"}]})


def states(found: dict[str, Any], member: str) -> dict[str, tuple[str, str | None]]:
    (interface,) = found["red"][f"srv6mgr-ospf:{member}"]["interface"]
    assert interface["name"] == "eth1"
    return {n["router-id"]: (n["state"], n.get("address")) for n in interface["neighbor"]}


def test_ospf() -> None:
    found = Adjacencies().of_vrfs(DESIRED, Daemons())
    both = {"10.0.0.9": ("full", "10.1.0.10"), "10.0.0.8": ("2-way", "10.1.0.10")}
    assert states(found, "ospf") == both
    assert states(found, "ospfv3") == {"10.0.0.9": ("exchange", None)}


def test_the_time_of_a_change_stands_still() -> None:
    adjacencies, daemons = Adjacencies(), Daemons()
    first = adjacencies.of_vrfs(DESIRED, daemons)
    # Computed at another moment, of another number.
    daemons.ms, daemons.duration = 16744, "00:00:17"
    assert adjacencies.of_vrfs(DESIRED, daemons) == first
    daemons.ms, daemons.duration = 100, "1d00:00:01"
    assert adjacencies.of_vrfs(DESIRED, daemons) != first


def test_isis() -> None:
    daemons = Daemons()
    met = {"circuit": 0, "adj": "p", "interface": "to-p", "level": 2, "state": "Up"}
    daemons.circuits = [{"circuit": 0}, met, {**met, "interface": "other"}]
    desired = Desired(
        isis=Isis("49", "0000.0000.0001", "MAIN", interfaces=(IsisInterface("to-p"),))
    )
    assert Adjacencies().of_isis(desired, daemons) == {
        "interface": [{"name": "to-p", "adjacency": [{"neighbor": "p", "level": 2, "state": "up"}]}]
    }
    assert Adjacencies().of_isis(Desired(), daemons) == {}
