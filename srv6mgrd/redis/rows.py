"""Desired state and statuses to rows. Pure: what shall stand in Redis, not how it gets there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv6Network

from srv6mgrd.counters import sonic
from srv6mgrd.counters.proxies import ProxyState
from srv6mgrd.counters.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import Desired, Locator, Sid
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.redis.schema import Fields, Row, RowKey, table

OWNER = "srv6mgr"

MY_SID = table("APPL_DB", "SRV6_MY_SID_TABLE")
APPL_VRF = table("APPL_DB", "VRF_TABLE")
SID_LIST = table("APPL_DB", "SRV6_SID_LIST_TABLE")
STATE_VRF = table("STATE_DB", "VRF_TABLE")
SID_STATUS = table("STATE_DB", "SRV6MGR_SID")
VRF_STATUS = table("STATE_DB", "SRV6MGR_VRF")
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
# Those that look up a table; without a VRF the router's own.
_LOOK_UP = frozenset({Behavior.END_T, Behavior.END_DT4, Behavior.END_DT6, Behavior.END_DT46})
_ROUTER = "default"

_LIST_TYPES: Mapping[Headend, str] = {
    Headend.H_ENCAPS: "encaps",
    Headend.H_ENCAPS_RED: "encaps.red",
    Headend.H_ENCAPS_L2: "encaps",
    Headend.H_ENCAPS_L2_RED: "encaps.red",
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
    """What shall stand in Redis: rows, and the SIDs that have counters.

    ``counted`` leads from a SID's prefix to its name in COUNTERS_SRV6_NAME_MAP. The rows of the
    counters are not among ``rows``: their keys hold identifiers that Redis gives out. ``changes``
    is what is otherwise than in the projection before; None: there was none.
    """

    rows: Mapping[RowKey, Fields] = field(default_factory=dict)
    counted: Mapping[str, str] = field(default_factory=dict)
    changes: Changes | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Changes:
    """Keys of rows, prefixes of SIDs, and names that no SID has any more."""

    keys: Set[RowKey] = frozenset()
    prefixes: Set[str] = frozenset()
    names: Set[str] = frozenset()


def project(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Projection:
    """Rows of a desired state whose objects have these statuses; none yet counts as pending."""
    return Projector().project(desired, statuses)


@dataclass(frozen=True, slots=True)
class _SidRows:
    """What was made of a SID."""

    # A row is a key and the fields at the same place: less memory than a pair of each.
    keys: tuple[RowKey, ...]
    fields: tuple[Fields, ...]
    name: str

    def rows(self) -> dict[RowKey, Fields]:
        return dict(zip(self.keys, self.fields, strict=True))


class Projector:
    """``project`` again and again: only rows of what is another object are made anew. The mappings
    of a projection are those of the next one, too."""

    def __init__(self, *, alone: bool = True) -> None:
        """``alone`` False: beside SONiC's own daemons, whose rows are left to them."""
        self._alone = alone
        self._desired = Desired()
        self._statuses: Mapping[ObjectRef, ObjectStatus] = {}
        self._made: dict[str, _SidRows] = {}
        self._few: dict[RowKey, Fields] = {}
        self._rows: dict[RowKey, Fields] = {}
        self._counted: dict[str, str] = {}
        # What was told last, and what of it has to be told again.
        self._told: Changes | None = None
        self._left: Changes | None = None

    def again(self) -> None:
        """The last projection came to nothing: the next one tells of its changes, too."""
        self._left = self._told

    def project(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> Projection:
        keys, prefixes, names = set[RowKey](), self._otherwise(desired, statuses), set[str]()
        for text, sid in prefixes.items():
            made = None
            if sid is not None:
                status = statuses.get(ObjectRef(Kind.SID, text), _UNKNOWN)
                made = _sid_rows(text, sid, desired.locators[sid.locator], status)
            keys |= self._take(text, made)
            if (name := self._counted.pop(text, None)) is not None:
                names.add(name)
            if made is not None and self._alone:
                self._counted[text] = made.name
                names.discard(made.name)
        few: dict[RowKey, Fields] = {}
        for name in desired.vrfs:
            few.update(_vrf(name, statuses.get(ObjectRef(Kind.VRF, name), _UNKNOWN)))
        few.update(_segment_lists(desired, statuses))
        keys |= self._exchange(self._few, few)
        self._few, self._desired, self._statuses = few, desired, statuses
        self._told, self._left = self._with_left(Changes(keys, prefixes.keys(), names)), Changes()
        return Projection(self._rows, self._counted, self._told)

    def _with_left(self, now: Changes) -> Changes | None:
        left, counted = self._left, self._counted
        if left is None:
            return None
        back = {counted[text] for text in now.prefixes if text in counted}
        names = (left.names - back) | now.names
        return Changes(left.keys | now.keys, left.prefixes | now.prefixes, names)

    def _otherwise(
        self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]
    ) -> dict[str, Sid | None]:
        """The SIDs that rows have to be made of, by prefix; None for those that are gone."""
        before, sids, locators = self._desired, desired.sids, desired.locators
        found: dict[str, Sid | None] = {}
        if before.sids is not sids:
            found |= {str(p): None for p in before.sids if p not in sids}
            found |= {str(p): s for p, s in sids.items() if before.sids.get(p) is not s}
        if any(before.locators.get(name) is not locator for name, locator in locators.items()):
            found |= {str(p): s for p, s in sids.items()}
        if statuses is not self._statuses:
            was = self._statuses
            told = [ref for ref, status in statuses.items() if was.get(ref) is not status]
            for ref in [*told, *(was.keys() - statuses.keys())]:
                if ref.kind is Kind.SID and (sid := sids.get(Prefix.parse(ref.name))) is not None:
                    found[ref.name] = sid
        return found

    def _take(self, text: str, made: _SidRows | None) -> set[RowKey]:
        """The keys of rows of a SID that are otherwise now."""
        before = self._made.pop(text, None)
        if made is not None:
            self._made[text] = made
        return self._exchange(*(r.rows() if r is not None else {} for r in (before, made)))

    def _exchange(
        self, before: Mapping[RowKey, Fields], now: Mapping[RowKey, Fields]
    ) -> set[RowKey]:
        changed = set[RowKey]()
        for key in before.keys() | now.keys():
            fields = now.get(key) if self._alone or _is_own(key) else None
            if fields is None:
                if self._rows.pop(key, None) is not None:
                    changed.add(key)
            elif self._rows.get(key) is not fields:
                self._rows[key] = fields
                changed.add(key)
        return changed


def _is_own(key: RowKey) -> bool:
    """Whether it is of a table that stock SONiC does not have."""
    return key.key.startswith("SRV6MGR_")


def fed(desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> dict[RowKey, Fields]:
    """Rows that a stock orchagent is fed with: segment lists, and SIDs that serve."""
    rows = project(desired, statuses).rows
    starts = (SID_LIST.prefix, MY_SID.prefix)
    return {
        key: f
        for key, f in rows.items()
        if key.db == MY_SID.database and key.key.startswith(starts)
    }


def _sid_rows(text: str, sid: Sid, locator: Locator, status: ObjectStatus) -> _SidRows:
    lengths = _lengths(sid, locator)
    address = text.partition("/")[0]  # network_address would be formatted anew
    asic = "unsupported" if sid.behavior in _SAI_LACKS else None
    fields = _status_fields(status.status, status.reason, status.since, asic)
    shown = SID_STATUS.key(text), fields
    keys, mappings = zip(*_sid(sid, lengths, address, status), shown, strict=True)
    return _SidRows(keys, mappings, sonic.name(text, *lengths[:3]))


def proxy_rows(proxies: Mapping[IPv6Network, ProxyState]) -> dict[RowKey, Fields]:
    """Rows of the proxies that stand; they change with any packet."""
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


def _sid(
    sid: Sid, lengths: tuple[int, int, int, int], address: str, status: ObjectStatus
) -> Iterator[Row]:
    action = _ACTIONS.get(sid.behavior)
    if Flavor.NEXT_CSID in sid.flavors:
        action = _COMPRESSED.get(sid.behavior)
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


def _lengths(sid: Sid, locator: Locator) -> tuple[int, int, int, int]:
    """Block, node, function, argument length of a SID."""
    block, node = locator.block_length, locator.node_length
    length = sid.prefix.prefixlen
    function = locator.function_length if length == 128 else length - block - node
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
