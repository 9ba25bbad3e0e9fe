"""What is known of one SID: declared, told by srv6mgrd, read from the node."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.cli import host
from srv6mgrd.cli.explain.causes import Facts
from srv6mgrd.cli.explain.listen import listen
from srv6mgrd.cli.rates import Rate, rates
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.rows import UNKNOWN
from srv6mgrd.cli.sid_argument import chosen
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters


@dataclass(frozen=True, slots=True)
class Evidence:
    """``exports`` names the VRFs that advertise it; ``in_kernel`` is its route, if it is there."""

    sid: Sid
    status: ObjectStatus
    counters: SidCounters
    rate: Rate | None
    exports: tuple[str, ...]
    in_kernel: host.Route | None
    facts: Facts
    listened: bool


def gather(session: Session, wanted: str, seconds: float) -> Evidence:
    """Look at a SID for ``seconds``. Raises Problem."""
    desired = session.desired()
    sids = {str(sid.prefix): sid for sid in desired.sids.values()}
    sid = sids[chosen(wanted, sids)]
    state, name = session.state, str(sid.prefix)
    before = state.sample()
    heard: list[Mapping[str, int] | None] = []
    ear = threading.Thread(target=lambda: heard.append(listen(sid, seconds)), name="listen")
    if seconds:
        ear.start()
    after = state.next_sample(before, seconds) if seconds and state.managed else before
    if seconds:
        ear.join()
    seen = host.read(SID_TABLE)
    return Evidence(
        sid,
        state.statuses().get(ObjectRef(Kind.SID, name), UNKNOWN),
        after.counters.get(name, SidCounters()),
        rates(before, after).get(name),
        tuple(
            vrf.name
            for vrf in desired.vrfs.values()
            if vrf.bgp is not None and sid.prefix in vrf.bgp.export_sids
        ),
        next((r for r in seen.routes if r.prefix == sid.prefix and r.encap == "seg6local"), None),
        _facts(sid, seen, heard[0] if heard else None, state.proxies().get(name, {})),
        bool(heard) and heard[0] is not None,
    )


def _facts(
    sid: Sid, seen: host.Host, heard: Mapping[str, int] | None, proxy: Mapping[str, Any]
) -> Facts:
    device = sid.vrf or (sid.proxy.interface if sid.proxy else sid.interface) or ""
    link = seen.links.get(device)
    rp_filter = host.sysctl("net/ipv4/conf/all/rp_filter")
    return Facts(
        heard=heard or {},
        proxy={reason: int(count) for reason, count in proxy.get("errors", {}).items()},
        rp_filter=int(rp_filter) if rp_filter is not None else None,
        forwarding_v4=_is_on("net/ipv4/ip_forward"),
        forwarding_v6=_is_on("net/ipv6/conf/all/forwarding"),
        device=device,
        device_up=(link is not None and link.up) if device else None,
    )


def _is_on(path: str) -> bool | None:
    value = host.sysctl(path)
    return None if value is None else value != "0"
