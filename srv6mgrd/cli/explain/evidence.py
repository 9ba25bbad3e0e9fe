"""The facts about one SID: declared, reported by srv6mgrd, read from the node."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import Any

from srv6mgrd.cli import host, sid_routes
from srv6mgrd.cli.explain.causes import Dropped, Facts
from srv6mgrd.cli.explain.listen import listen
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.rates import Rate, Sample, rates
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.rows import UNKNOWN
from srv6mgrd.cli.sid_argument import chosen
from srv6mgrd.cli.state import State
from srv6mgrd.cli.units import ago, ns_of
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.model.drops import DropReason
from srv6mgrd.model.reserved import DEFAULT_VRF_DEVICE
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
    state = session.state
    desired, sid = _declared(session, state, wanted)
    name = str(sid.prefix)
    before = state.sample()
    heard: list[Mapping[str, int] | None] = []
    ear = threading.Thread(target=lambda: heard.append(listen(sid, seconds)), name="listen")
    if seconds:
        ear.start()
    after = state.next_sample(before, seconds) if seconds and state.managed else before
    if seconds:
        ear.join()
    counted = {name: after.counters[name]} if name in after.counters else {}
    return Evidence(
        sid,
        state.statuses().get(ObjectRef(Kind.SID, name), UNKNOWN),
        counted.get(name, SidCounters()),
        rates(before, Sample(after.at, counted)).get(name),
        tuple(
            vrf.name
            for vrf in desired.vrfs.values()
            if vrf.bgp is not None and sid.prefix in vrf.bgp.export_sids
        ),
        sid_routes.find(sid.prefix),
        _facts(sid, heard[0] if heard else None, state),
        bool(heard) and heard[0] is not None,
    )


def _declared(session: Session, state: State, wanted: str) -> tuple[Desired, Sid]:
    """The SID that is meant, and what is declared beside SIDs. To read thousands of others is
    left out where srv6mgrd has reported which ones there are. Raises Problem."""
    try:
        reported = chosen(wanted, state.sample().counters)
        desired = session.desired(sid=reported)
        return desired, desired.sids[IPv6Network(reported)]
    except (Problem, KeyError):
        desired = session.desired()
    sids = {str(sid.prefix): sid for sid in desired.sids.values()}
    return desired, sids[chosen(wanted, sids)]


def _facts(sid: Sid, heard: Mapping[str, int] | None, state: State) -> Facts:
    name, now = str(sid.prefix), time.time_ns()
    proxy: Mapping[str, Any] = state.proxies().get(name, {})
    vrf = DEFAULT_VRF_DEVICE if sid.default_vrf else sid.vrf
    device = vrf or (sid.proxy.interface if sid.proxy else sid.interface) or ""
    rp_filter = host.sysctl("net/ipv4/conf/all/rp_filter")
    return Facts(
        heard=heard or {},
        dropped=[
            Dropped(
                DropReason(drop["reason"]),
                drop["certainty"],
                int(drop["packets"]),
                ago(ns_of(drop["last-seen"]), now),
            )
            for drop in state.drops()
            if drop["sid"] == name
        ],
        proxy={reason: int(count) for reason, count in proxy.get("errors", {}).items()},
        rp_filter=int(rp_filter) if rp_filter is not None else None,
        forwarding_v4=_is_on("net/ipv4/ip_forward"),
        forwarding_v6=_is_on("net/ipv6/conf/all/forwarding"),
        device=device,
        device_up=host.is_up(device) if device else None,
    )


def _is_on(path: str) -> bool | None:
    value = host.sysctl(path)
    return None if value is None else value != "0"
