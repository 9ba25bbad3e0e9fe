"""An object of one row and what other rows add to it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from srv6mgrd.configdb.fields import RowError
from srv6mgrd.configdb.objects import BGP, STEERING, Declared, Kind, Leaves, Part

_Maker = Callable[[Declared, list[Leaves], Mapping[str, str]], Leaves]


def whole(declared: Declared, parts: Iterable[Part], sids: Mapping[str, str]) -> Declared:
    """``sids`` lead from the address of a SID that a row declares to its prefix. Raises
    RowError."""
    contents = [part.content for part in parts]
    if not contents:
        return declared
    made = _MAKERS[declared.object.kind](declared, contents, sids)
    return replace(declared, leaves={**declared.leaves, **made})


def exports(parts: Iterable[Part]) -> bool:
    """Whether one of them names a SID by its address."""
    return any("export" in part.content for part in parts)


def _speaker(_: Declared, contents: list[Leaves], __: Mapping[str, str]) -> Leaves:
    """The BGP speaker with its VPN neighbors; those of the underlay are not ours."""
    carries_vpn = {address for c in contents for address in c.get("vpn", ())}
    found = {a: n for a, n in _neighbors(contents).items() if a in carries_vpn}
    return {"neighbor": _listed(found)} if found else {}


def _vrf(declared: Declared, contents: list[Leaves], sids: Mapping[str, str]) -> Leaves:
    leaves: dict[str, Any] = {}
    if interfaces := sorted({name for c in contents for name in c.get("interfaces", ())}):
        leaves["interface"] = interfaces
    routes = {prefix: r for c in contents for prefix, r in c.get("routes", {}).items()}
    if routes:
        listed = [{"prefix": prefix, **routes[prefix]} for prefix in sorted(routes)]
        leaves[STEERING] = {"route": listed}
    families = sorted((f for c in contents for f in c.get("families", ())), key=_family)
    if families:
        leaves[BGP] = _vrf_bgp(declared, families, contents, sids)
    return leaves


def _vrf_bgp(
    declared: Declared,
    families: list[Leaves],
    contents: list[Leaves],
    sids: Mapping[str, str],
) -> Leaves:
    targets = [{n: f[n] for n in ("rd", "import-rt", "export-rt")} for f in families]
    bgp: dict[str, Any] = dict(targets[0])
    for family, own in zip(families[1:], targets[1:], strict=True):
        if own != targets[0]:
            bgp[_family(family)] = own
    addresses = [c["export"] for c in contents if "export" in c]
    if addresses and any(f["exports"] for f in families):
        if addresses[0] not in sids:
            raise RowError(
                f"{declared.object}: the SID {addresses[0]} that it exports is in no row of"
                " SRV6_MY_SIDS; write that row"
            )
        bgp["export-sid"] = sids[addresses[0]]
    # The model exports them by default; it has no choice for each family.
    connected = [f["connected"] for f in families if "connected" in f]
    if connected and not any(connected):
        bgp["redistribute"] = {"connected": False}
    if paths := [f["ebgp"] for f in families if "ebgp" in f]:
        bgp["maximum-paths"] = {"ebgp": max(paths)}
    if neighbors := _neighbors(contents):
        bgp["neighbor"] = _listed(neighbors)
    return bgp


def _family(content: Leaves) -> str:
    return str(content["family"])


def _neighbors(contents: list[Leaves]) -> dict[str, Leaves]:
    return {a: n for c in contents for a, n in c.get("neighbors", {}).items()}


def _listed(neighbors: Mapping[str, Leaves]) -> list[Leaves]:
    return [{"address": address, **neighbors[address]} for address in sorted(neighbors)]


def _entries(name: str, key: str) -> _Maker:
    """Of a list of which each row declares an entry."""

    def make(_: Declared, contents: list[Leaves], __: Mapping[str, str]) -> Leaves:
        found = {k: entry for c in contents for k, entry in c[name].items()}
        return {name: [{key: k, **found[k]} for k in sorted(found)]}

    return make


_MAKERS: Mapping[Kind, _Maker] = {
    Kind.VRF: _vrf,
    Kind.BGP: _speaker,
    Kind.SERVICE_FUNCTION: _entries("function-sid", "address"),
    Kind.FUNCTION_CHAIN: _entries("hop", "index"),
    Kind.CLASSIFIER: _entries("rule", "priority"),
}
