"""VRFs: tables and interfaces belong to one each."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.paths import vrf_path
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.reserved import (
    DEFAULT_VRF_DEVICE,
    DEFAULT_VRF_TABLE,
    SID_DEVICE,
    SID_TABLE,
)


def check(desired: Desired) -> Iterator[Rejection]:
    yield from _tables(desired)
    yield from _devices(desired)


def _tables(desired: Desired) -> Iterator[Rejection]:
    users: dict[int, Vrf] = {}
    for vrf in sorted(desired.vrfs.values(), key=lambda v: v.name):
        if vrf.table == SID_TABLE:
            yield _rejection(
                vrf,
                f"table {SID_TABLE} holds the local SIDs",
                "choose another table-id",
                "table-reserved",
            )
        if vrf.table == DEFAULT_VRF_TABLE:
            yield _rejection(
                vrf,
                f"table {DEFAULT_VRF_TABLE} is for SIDs that look up the default VRF",
                "choose another table-id",
                "table-reserved",
            )
        # YANG `unique` says this first; configuration that came another way meets it here.
        if (other := users.setdefault(vrf.table, vrf)) is not vrf:
            yield table_in_use(vrf.name, vrf.table, other.name)


def _devices(desired: Desired) -> Iterator[Rejection]:
    ports: dict[str, Vrf] = {}
    for vrf in desired.vrfs.values():
        if vrf.name == SID_DEVICE:
            yield _rejection(
                vrf,
                "the device of the local SIDs has this name",
                "rename the VRF",
                "vrf-name-reserved",
            )
        if vrf.name == DEFAULT_VRF_DEVICE:
            yield _rejection(
                vrf,
                "the VRF device of SIDs that look up the default VRF has this name",
                "rename the VRF",
                "vrf-name-reserved",
            )
        for interface in vrf.interfaces:
            if interface == SID_DEVICE:
                yield _no_port(vrf, interface, "carries the local SIDs", "interface-reserved")
            elif interface == "lo":
                yield _no_port(vrf, interface, "is the loopback", "interface-reserved")
            elif interface in desired.vrfs or interface == DEFAULT_VRF_DEVICE:
                yield _no_port(vrf, interface, "is itself a VRF", "interface-is-vrf")
            if (other := ports.setdefault(interface, vrf)) is not vrf:
                yield _rejection(
                    vrf,
                    f"interface {interface} is already in VRF {other.name}",
                    "list it in one VRF only",
                    "interface-in-use",
                )


def _no_port(vrf: Vrf, interface: str, why: str, tag: str) -> Rejection:
    return _rejection(vrf, f"interface {interface} {why}", "take it off the list", tag)


def _rejection(vrf: Vrf, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.vrf(vrf.name), cause, remedy, tag, vrf_path(vrf.name))


def table_in_use(vrf: str, table: int, other: str) -> Rejection:
    """Two VRFs on one table: strict_mode forbids it (drivers/net/vrf.c)."""
    return Rejection(
        names.vrf(vrf),
        f"table {table} is already used by VRF {other}",
        "choose another table-id",
        "table-in-use",
        vrf_path(vrf),
    )
