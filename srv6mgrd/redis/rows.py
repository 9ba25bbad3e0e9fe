"""Desired state and statuses to rows. Pure: what Redis has to hold, not how it gets there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv6Network
from itertools import chain

from srv6mgrd.counters import sonic
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import Desired, Locator, Sid
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.service import ServiceReport
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.redis.schema import Fields, Row, RowKey, table

OWNER = "srv6mgr"

MY_SID = table("APPL_DB", "SRV6_MY_SID_TABLE")
APPL_VRF = table("APPL_DB", "VRF_TABLE")
SID_LIST = table("APPL_DB", "SRV6_SID_LIST_TABLE")
ROUTE = table("APPL_DB", "ROUTE_TABLE")
# Tables that a stock orchagent is fed with.
FED = tuple(t.prefix for t in (MY_SID, SID_LIST, ROUTE))
STATE_VRF = table("STATE_DB", "VRF_TABLE")
SID_STATUS = table("STATE_DB", "SRV6MGR_SID")
VRF_STATUS = table("STATE_DB", "SRV6MGR_VRF")
SERVICE = table("STATE_DB", "SRV6MGR_SERVICE")
ALARM = table("STATE_DB", "SRV6MGR_ALARM")
PROXY = table("STATE_DB", "SRV6MGR_PROXY")
COUNTERS = table(sonic.DATABASE, "COUNTERS")
NAME_MAP = table("COUNTERS_DB", "COUNTERS_SRV6_NAME_MAP")
SID_OID = table("COUNTERS_DB", "SRV6MGR_SID_OID")

# Those that orchagent knows (sonic-swss orchagent/srv6orch.cpp, end_behavior_map). End.B6.Encaps is
# not among them: there it takes a next hop, not a segment list.
_ACTIONS: Mapping[Behavior, str] = {
    Behavior.END: "end",
    Behavior.END_X: "end.x",
    Behavior.END_T: "end.t",
    Behavior.END_DX6: "end.dx6",
    Behavior.END_DX4: "end.dx4",
    Behavior.END_DT4: "end.dt4",
    Behavior.END_DT6: "end.dt6",
    Behavior.END_DT46: "end.dt46",
}
# SAI has none of these (SAI inc/saisrv6.h, sai_my_sid_entry_endpoint_behavior_t).
_SAI_LACKS = frozenset(
    {Behavior.END_DX2, Behavior.END_BPF, Behavior.END_AS, Behavior.END_AD, Behavior.END_AM}
)
_COMPRESSED = {Behavior.END: "un", Behavior.END_X: "ua"}
# What fpmsyncd calls those of a micro-segment locator, as FRR does (uDT46, IANA 64).
_MICRO_SEGMENTS: Mapping[Behavior, str] = {
    Behavior.END_DX6: "udx6",
    Behavior.END_DX4: "udx4",
    Behavior.END_DT4: "udt4",
    Behavior.END_DT6: "udt6",
    Behavior.END_DT46: "udt46",
}
# Those that look up a table; without a VRF the router's own.
_LOOK_UP = frozenset({Behavior.END_T, Behavior.END_DT4, Behavior.END_DT6, Behavior.END_DT46})
_ROUTER = "default"

_LIST_TYPES: Mapping[Headend, str] = {
    Headend.H_ENCAPS: "encaps",
    Headend.H_ENCAPS_RED: "encaps.red",
    Headend.H_ENCAPS_L2: "encaps",
    Headend.H_ENCAPS_L2_RED: "encaps.red",
    Headend.H_INSERT: "insert",
}

# A drifted object is being repaired: its row must not flap.
_SERVING = frozenset({InstallStatus.INSTALLED, InstallStatus.DRIFTED})

_UNKNOWN = ObjectStatus(InstallStatus.PENDING)

# SAI object identifier: bits 55..48 are the type, 38..0 the index (sonic-sairedis
# lib/VirtualObjectIdManager.cpp); 0x54 is SAI_OBJECT_TYPE_COUNTER.
_COUNTER_TYPE = 0x54 << 48
_INDEX_MASK = (1 << 39) - 1


@dataclass(frozen=True, slots=True)
class Projection:
    """What Redis has to hold: rows, and the SIDs that have counters.

    ``counted`` leads from a SID's prefix to its name in COUNTERS_SRV6_NAME_MAP. The rows of the
    counters are not among ``rows``: their keys hold identifiers that Redis gives out.
    """

    rows: Mapping[RowKey, Fields]
    counted: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Changes:
    """How a projection differs from the one before: None for a row that goes, and for a SID that
    has no counters any more. ``uncounted`` are names that no SID has any more; ``whole``: there is
    nothing else than this. The caller that takes ``rows`` over empties it: all freed at once would
    hold every thread."""

    rows: dict[RowKey, Fields | None]
    counted: Mapping[str, str | None]
    uncounted: Set[str]
    whole: bool


def project(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Projection:
    """Rows of a desired state whose objects have these statuses; none yet counts as pending."""
    made = Projector().project(desired, statuses)
    return Projection(
        {key: fields for key, fields in made.rows.items() if fields is not None},
        {prefix: name for prefix, name in made.counted.items() if name is not None},
    )


class Projector:
    """``project`` again and again: rows are made of changed objects only. Former rows are made
    again from the former objects: kept, they took as much memory as all objects."""

    def __init__(self, *, alone: bool = True) -> None:
        """``alone`` False: beside SONiC's own daemons, whose rows are left to them."""
        self._alone = alone
        self._counts = alone
        self._desired = Desired()
        self._statuses: Mapping[ObjectRef, ObjectStatus] = {}
        self._few: Mapping[RowKey, Fields] = {}
        self._whole = True

    def count(self, *, is_enabled: bool) -> None:
        """Whether SIDs have counters, from the next projection on."""
        self._counts = self._alone and is_enabled
        self.again()

    def again(self) -> None:
        """The last projection came to nothing: the next one has all."""
        self._desired, self._statuses, self._few, self._whole = Desired(), {}, {}, True

    def project(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Changes:
        rows: dict[RowKey, Fields | None] = {}
        counted: dict[str, str | None] = {}
        uncounted = set[str]()
        others = self._otherwise(desired, statuses)
        while others:
            text, (was, sid) = others.popitem()
            before, name_before = self._sid_rows(text, was, self._desired, self._statuses)
            now, name = self._sid_rows(text, sid, desired, statuses)
            rows.update(_exchange(before, now))
            if name != name_before:
                counted[text] = name
                if name_before is not None:
                    uncounted.add(name_before)
        few: dict[RowKey, Fields] = {}
        for vrf in desired.vrfs:
            few.update(_vrf(vrf, statuses.get(ObjectRef(Kind.VRF, vrf), _UNKNOWN)))
        few.update(_segment_lists(desired, statuses))
        few.update(_routes(desired, statuses))
        few = self._left_to_us(few.items())
        rows.update(_exchange(self._few, few))
        whole, self._whole = self._whole, False
        self._few, self._desired, self._statuses = few, desired, statuses
        return Changes(rows, counted, uncounted.difference(counted.values()), whole)

    def _otherwise(
        self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]
    ) -> dict[str, tuple[Sid | None, Sid | None]]:
        """The SIDs whose rows may be otherwise, by prefix: as they were, as they are."""
        before, sids, locators = self._desired.sids, desired.sids, desired.locators
        found: dict[str, tuple[Sid | None, Sid | None]] = {}
        known = self._desired.locators
        moved = any(known.get(name) is not locator for name, locator in locators.items())
        # One by one: to merge 100,000 at once would hold every thread.
        if before is not sids:
            for prefix, was in before.items():
                if prefix not in sids:
                    found[str(prefix)] = was, None
        if moved or before is not sids:
            for prefix, sid in sids.items():
                if (known_sid := before.get(prefix)) is not sid or moved:
                    found[str(prefix)] = known_sid, sid
        if statuses is not self._statuses:
            was_reported = self._statuses
            reported = [
                ref for ref, status in statuses.items() if was_reported.get(ref) is not status
            ]
            # Not as a set operation, which holds every thread.
            gone = [ref for ref in was_reported if ref not in statuses]
            for ref in chain(reported, gone):
                if ref.kind is Kind.SID and ref.name not in found:
                    parsed = Prefix.parse(ref.name)
                    if (declared := sids.get(parsed)) is not None:
                        found[ref.name] = before.get(parsed), declared
        return found

    def _sid_rows(
        self,
        text: str,
        sid: Sid | None,
        desired: Desired,
        statuses: Mapping[ObjectRef, ObjectStatus],
    ) -> tuple[Mapping[RowKey, Fields], str | None]:
        """The rows of a SID, and its name when it has counters."""
        if sid is None:
            return {}, None
        status = statuses.get(ObjectRef(Kind.SID, text), _UNKNOWN)
        lengths = _lengths(sid, desired.locators[sid.locator])
        address = text.partition("/")[0]  # network_address would be formatted again
        asic = "unsupported" if sid.behavior in _SAI_LACKS else None
        fields = _status_fields(status.status, status.reason, status.since, asic)
        shown = SID_STATUS.key(text), fields
        action = _action(sid, desired.locators[sid.locator])
        rows = self._left_to_us([*_sid(sid, action, lengths, address, status), shown])
        return rows, sonic.name(text, *lengths[:3]) if self._counts else None

    def _left_to_us(self, rows: Iterable[Row]) -> dict[RowKey, Fields]:
        return {key: fields for key, fields in rows if self._alone or _is_own(key)}


def _exchange(
    before: Mapping[RowKey, Fields], now: Mapping[RowKey, Fields]
) -> Iterator[tuple[RowKey, Fields | None]]:
    """The rows that are otherwise now; None for those that go."""
    yield from ((key, None) for key in before.keys() - now.keys())
    yield from ((key, fields) for key, fields in now.items() if before.get(key) != fields)


def _is_own(key: RowKey) -> bool:
    """Whether it is of a table that stock SONiC does not have."""
    return key.key.startswith("SRV6MGR_")


def fed(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> dict[RowKey, Fields]:
    """Rows that a stock orchagent is fed with: segment lists, SIDs and routes that serve."""
    rows = project(desired, statuses).rows
    return {
        key: f for key, f in rows.items() if key.db == MY_SID.database and key.key.startswith(FED)
    }


def proxy_rows(proxies: Mapping[IPv6Network, ProxyState]) -> dict[RowKey, Fields]:
    """Rows of the installed proxies; they change with any packet."""
    return dict(_proxy(str(prefix), state) for prefix, state in proxies.items())


def _proxy(prefix: str, p: ProxyState) -> Row:
    counts = {f.name: getattr(p.counts, f.name) for f in fields(p.counts)}
    return PROXY.row(
        prefix,
        **counts,
        mtu=p.mtu or None,
        source=p.source,
        segments=",".join(map(str, p.segments)) or None,
        learned=time_text(p.learned) if p.learned else None,
        owner=OWNER,
    )


def service_rows(services: Mapping[ObjectRef, ServiceReport]) -> dict[RowKey, Fields]:
    """Rows of services."""
    return dict(_service(ref, report) for ref, report in services.items())


def _service(ref: ObjectRef, report: ServiceReport) -> Row:
    worst = report.condition
    return SERVICE.row(
        ref.kind.text,
        ref.name,
        state=report.state.text,
        condition=worst.type.value if worst is not None else None,
        severity=worst.severity.text if worst is not None else None,
        cause=worst.cause if worst is not None else None,
        remedy=worst.remedy if worst is not None else None,
        since=time_text(report.since),
        owner=OWNER,
    )


def alarm_rows(alarms: Iterable[ActiveAlarm]) -> dict[RowKey, Fields]:
    """Rows of alarms."""
    return dict(_alarm(one) for one in alarms)


def _alarm(one: ActiveAlarm) -> Row:
    # Names of fields are SONiC's, which has hyphens in them.
    fields = {
        "type-id": one.type,
        "resource": one.resource,
        "text": one.text,
        "severity": one.severity.text.upper(),
        "time-created": one.raised,
        "acknowledged": "true" if one.acknowledged is not None else "false",
        "acknowledge-time": one.acknowledged,
        "owner": OWNER,
    }
    return ALARM.row(one.type, one.resource, **fields)


def counters_key(oid: str) -> RowKey:
    return COUNTERS.key(oid)


# Thousands of SIDs have rows alike: one mapping serves them all, and is never changed.
@lru_cache(maxsize=4096)
def _status_fields(status: InstallStatus, reason: str, since: int, asic: str | None) -> Fields:
    _, made = SID_STATUS.row("", asic=asic, **_status(ObjectStatus(status, reason, since)))
    return made


@lru_cache(maxsize=4096)
def _my_sid_fields(action: str, vrf: str | None, adj: str | None) -> Fields:
    _, made = MY_SID.row(*[""] * len(MY_SID.parts), action=action, vrf=vrf, adj=adj)
    return made


def oid_of(index: int) -> str:
    """Object identifier of a counter, as sai_serialize_object_id writes it."""
    return f"oid:{_COUNTER_TYPE | index & _INDEX_MASK:#x}"


def index_of(oid: str) -> int:
    """Index of a counter's object identifier."""
    return int(oid.removeprefix("oid:"), 16) & _INDEX_MASK


def _vrf(name: str, status: ObjectStatus) -> Iterator[Row]:
    if status.status in _SERVING:
        yield STATE_VRF.row(name, state="ok")
        yield APPL_VRF.row(name, NULL="NULL")
    yield VRF_STATUS.row(name, **_status(status))


def _action(sid: Sid, locator: Locator) -> str | None:
    if Flavor.NEXT_CSID in sid.flavors:
        return _COMPRESSED.get(sid.behavior)
    action = _ACTIONS.get(sid.behavior)
    return _MICRO_SEGMENTS.get(sid.behavior, action) if locator.micro_segment else action


def _sid(
    sid: Sid,
    action: str | None,
    lengths: tuple[int, int, int, int],
    address: str,
    status: ObjectStatus,
) -> Iterator[Row]:
    # Srv6Orch drops a SID whose VRF isn't there, for good (sonic-swss orchagent/srv6orch.cpp,
    # createUpdateMysidEntry): the row comes when the SID serves.
    if action is not None and status.status in _SERVING:
        vrf = sid.vrf or _ROUTER if sid.behavior in _LOOK_UP else None
        fields = _my_sid_fields(action, vrf, _adjacency(sid))
        yield MY_SID.key(*lengths, address), fields


def _adjacency(sid: Sid) -> str | None:
    """A next hop as NextHopKey reads it (sonic-swss orchagent/nexthopkey.h)."""
    if sid.next_hop is None:
        return None
    return f"{sid.next_hop}@{sid.interface}" if sid.interface else str(sid.next_hop)


def _segment_lists(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Iterator[Row]:
    types: dict[str, str] = {}
    for route in desired.routes.values():
        types.setdefault(route.segment_list, _LIST_TYPES[route.behavior])
    for sid in desired.sids.values():
        if sid.segment_list is not None:
            types.setdefault(sid.segment_list, "encaps")
    for name, listed in desired.segment_lists.items():
        status = statuses.get(ObjectRef(Kind.SEGMENT_LIST, name), _UNKNOWN)
        if status.status in _SERVING:
            path = ",".join(map(str, listed.segments))
            yield SID_LIST.row(name, path=path, type=types.get(name))


def _routes(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Iterator[Row]:
    """Steered routes, as fpmsyncd writes them. Without a source there is no tunnel (srv6orch.cpp,
    createSrv6Tunnel), and so no row."""
    for name, route in desired.routes.items():
        source = route.source or desired.encapsulation_source
        status = statuses.get(ObjectRef(Kind.ROUTE, name), _UNKNOWN)
        # SAI has no type of a segment list for frames.
        is_l2 = route.behavior in (Headend.H_ENCAPS_L2, Headend.H_ENCAPS_L2_RED)
        if status.status not in _SERVING or source is None or is_l2:
            continue
        prefix = str(route.prefix)
        if route.prefix.prefixlen == route.prefix.max_prefixlen:
            prefix = str(route.prefix.network_address)
        key = f"{route.vrf}:{prefix}" if route.vrf is not None else prefix
        yield ROUTE.row(key, segment=route.segment_list, seg_src=source)


def _lengths(sid: Sid, locator: Locator) -> tuple[int, int, int, int]:
    """Block, node, function, argument length of a SID, as FRR counts them (static_zebra.c): a SID
    without node, of the local block, has its function where the node would be."""
    block, node = locator.block_length, locator.node_length
    length = sid.prefix.prefixlen
    function = max(0, length - block - node)
    if length == 128 and locator.function_length:
        function = locator.function_length
    argument = min(locator.argument_length, 128 - block - node - function)
    return block, node, function, argument


def _status(status: ObjectStatus) -> dict[str, str | None]:
    return {
        "status": status.status.text,
        "reason": status.reason or None,
        "since": time_text(status.since) if status.since else None,
        "owner": OWNER,
    }


@lru_cache(maxsize=1024)
def time_text(nanoseconds: int) -> str:
    """YANG date-and-time of nanoseconds since the epoch."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06}Z"
