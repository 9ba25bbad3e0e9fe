"""OSPF of VRFs: interfaces that it can't speak on."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.ospf import Ospf
from srv6mgrd.model.paths import ospf_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    for ospf in (*desired.ospf.values(), *desired.ospfv3.values()):
        if ospf.router_id.is_unspecified:
            yield _rejection(
                ospf, "router-id 0.0.0.0 is reserved", "choose another", "ospf-router-id"
            )
        ports = desired.vrfs[ospf.vrf].interfaces if ospf.vrf in desired.vrfs else ()
        for interface in ospf.interfaces:
            if interface.name not in ports:
                yield _rejection(
                    ospf,
                    f"interface {interface.name} is not in the VRF",
                    f"add it to the interfaces of VRF {ospf.vrf}, or name one of them",
                    "ospf-interface",
                )


def _rejection(ospf: Ospf, cause: str, remedy: str, tag: str) -> Rejection:
    protocol = "OSPF" if ospf.version == 2 else "OSPFv3"
    path = ospf_path(ospf.vrf, ospf.version)
    return Rejection(f"{protocol} of VRF {ospf.vrf}", cause, remedy, tag, path)
