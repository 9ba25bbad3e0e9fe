"""Desired states and statuses: one to look at, and a Hypothesis strategy for all."""

from __future__ import annotations

from ipaddress import IPv6Network

from hypothesis import strategies as st

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.builders import DECAPSULATE_TO_VRF

INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1_700_000_000_123_456_789)

State = tuple[Desired, dict[ObjectRef, ObjectStatus]]


def sid(prefix: str, behavior: Behavior = Behavior.END_DT46, vrf: str | None = "Vrf1") -> Sid:
    return Sid(IPv6Network(prefix), "MAIN", behavior, vrf)


def desired(*sids: Sid, vrfs: tuple[str, ...] = ("Vrf1",)) -> Desired:
    return Desired(
        locators={"MAIN": Locator("MAIN", IPv6Network("fc00:0:1::/48"))},
        vrfs={name: Vrf(name, 100 + n) for n, name in enumerate(vrfs)},
        sids={s.prefix: s for s in sids},
    )


def all_installed(state: Desired) -> dict[ObjectRef, ObjectStatus]:
    refs = [ObjectRef(Kind.VRF, v) for v in state.vrfs]
    refs += [ObjectRef(Kind.SID, str(s)) for s in state.sids]
    return dict.fromkeys(refs, INSTALLED)


@st.composite
def locators(draw: st.DrawFn, name: str) -> Locator:
    block = draw(st.integers(1, 64))
    node = draw(st.integers(1, 64))
    function = draw(st.integers(1, min(32, 128 - block - node) or 1)) if block + node < 128 else 0
    argument = draw(st.integers(0, 128 - block - node - function))
    bits = draw(st.integers(1, 2 ** (block + node) - 1)) << (128 - block - node)
    return Locator(name, IPv6Network((bits, block + node)), block, node, function, argument)


@st.composite
def sids(draw: st.DrawFn, locator: Locator, vrf: str) -> Sid:
    low = locator.prefix.prefixlen
    length = draw(st.sampled_from([128, low + locator.function_length]) | st.integers(low, 128))
    host = draw(st.integers(0, 2 ** (length - low) - 1)) << (128 - length)
    prefix = IPv6Network((int(locator.prefix.network_address) | host, length))
    behavior = draw(st.sampled_from(Behavior))
    return Sid(prefix, locator.name, behavior, vrf if behavior in DECAPSULATE_TO_VRF else None)


statuses = st.builds(
    ObjectStatus,
    st.sampled_from(InstallStatus),
    st.text(max_size=20),
    st.integers(0, 2**62),
)


@st.composite
def states(draw: st.DrawFn) -> State:
    names = draw(
        st.lists(
            st.from_regex(r"[a-zA-Z0-9_][a-zA-Z0-9_.\-]{0,14}", fullmatch=True),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    locs = [draw(locators(f"L{n}")) for n in range(draw(st.integers(1, 2)))]
    some = [
        draw(sids(draw(st.sampled_from(locs)), draw(st.sampled_from(names))))
        for _ in range(draw(st.integers(0, 6)))
    ]
    state = Desired(
        locators={loc.name: loc for loc in locs},
        vrfs={name: Vrf(name, n + 1) for n, name in enumerate(names)},
        sids={s.prefix: s for s in some},
    )
    refs = [*all_installed(state)]
    return state, {ref: draw(statuses) for ref in refs if draw(st.booleans())}
