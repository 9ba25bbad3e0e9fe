"""Imports from other VRFs of this router."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.expand import is_made
from srv6mgrd.model.leaking import DEFAULT_VRF, Leak
from srv6mgrd.model.leaking_targets import local_target
from srv6mgrd.model.paths import leak_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    for leak in desired.leaks.values():
        yield from _leak(desired, leak)
    yield from _targets(desired)


def _leak(desired: Desired, leak: Leak) -> Iterator[Rejection]:
    if desired.bgp is None:
        yield _rejection(
            leak,
            "BGP carries routes between VRFs, and the router has no BGP speaker",
            "add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id",
            "leak-speaker-missing",
        )
        return
    if leak.importer == leak.source:
        yield _rejection(leak, "it is the VRF itself", "name another VRF", "leak-self")
    elif leak.source != DEFAULT_VRF and leak.source not in desired.vrfs:
        yield _rejection(
            leak,
            f"VRF {leak.source} does not exist",
            "create it, name an existing VRF, or default",
            "instance-required",
        )
    else:
        importer, source = desired.vrfs.get(leak.importer), desired.vrfs.get(leak.source)
        if importer is not None and importer.bgp is None:
            yield _rejection(
                leak,
                f"BGP carries routes between VRFs, and VRF {importer.name} is not in BGP",
                "add srv6mgr-bgp:bgp to it",
                "leak-bgp-missing",
            )
        bgp = source.bgp if source is not None else None
        exports = bgp is not None and (bgp.export_sids or is_made(bgp))
        if source is not None and not exports:
            # Without a SID what bgpd exports would be advertised to other routers with no way in.
            yield _rejection(
                leak,
                f"VRF {source.name} exports no routes",
                "let it export a SID: export-sid, export-function or export-auto",
                "leak-export-missing",
            )


def _targets(desired: Desired) -> Iterator[Rejection]:
    """The route targets that distinguish routes have to be of one VRF each."""
    if desired.bgp is None:
        return
    declared = {
        target
        for vrf in desired.vrfs.values()
        if vrf.bgp is not None
        for of_family in (vrf.bgp.of_family(4), vrf.bgp.of_family(6))
        for target in (*of_family.import_rts, *of_family.export_rts)
    }
    owners: dict[str, str] = {}
    for leak in desired.leaks.values():
        target = local_target(desired, leak.source)
        if target is None:
            continue
        other = owners.setdefault(target, leak.source)
        if target in declared or other != leak.source:
            whose = "is declared" if target in declared else f"is that of VRF {other}"
            yield _rejection(
                leak,
                f"its routes are distinguished by route target {target}, which {whose}, too",
                f"choose another table-id for VRF {leak.source}, or another route target",
                "leak-target-in-use",
            )


def _rejection(leak: Leak, cause: str, remedy: str, tag: str) -> Rejection:
    where = names.leak(leak.source, leak.importer)
    return Rejection(where, cause, remedy, tag, leak_path(leak))
