"""How many other routers the routes of a VRF should lead to. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6net.compile.configuration import Entries

_BGP = "srv6mgr-bgp:bgp"


def expected(changes: Mapping[str, Entries], routers: Mapping[str, Entries]) -> dict[str, Any]:
    """By router of ``changes`` and path of each VRF there: the routers of ``routers`` that export
    to it and have an access, so that they have something to say."""
    wanted = {
        router: {path: set(bgp["import-rt"]) for path, bgp in _vrfs(entries, bare=True)}
        for router, entries in changes.items()
    }
    needed = {target for vrfs in wanted.values() for targets in vrfs.values() for target in targets}
    exporters: dict[str, set[str]] = {}
    for router, entries in routers.items() if needed else ():
        for _, bgp in _vrfs(entries):
            for target in needed.intersection(bgp["export-rt"]):
                exporters.setdefault(target, set()).add(router)
    return {
        router: {
            path: len({other for t in targets for other in exporters.get(t, ())} - {router})
            for path, targets in vrfs.items()
        }
        for router, vrfs in wanted.items()
    }


def _vrfs(entries: Entries, *, bare: bool = False) -> list[tuple[str, Mapping[str, Any]]]:
    """Path and BGP of the VRFs with an access, and of the ``bare`` ones without."""
    return [
        (path, value[_BGP])
        for path, value in entries.items()
        if isinstance(value, Mapping) and _BGP in value and (bare or value.get("interface"))
    ]
