"""What a block of ours is, in FRR's terms: its order, its slots, its negation, its comparison.

An observed block holds every line of its context, the operator's too; a block of ours holds ours
alone. They are compared with ``same`` and cut to size with ``ours_of``, so that lines which are
not ours never enter a plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.status import ObjectRef

ZEBRA = "zebra"
BGPD = "bgpd"
ISISD = "isisd"
OSPFD = "ospfd"
OSPF6D = "ospf6d"
# The command line of staticd is in mgmtd.
MGMTD = "mgmtd"
STATICD = "staticd"
BFDD = "bfdd"
# Lines of a VRF in mgmtd; each profile implies another value.
RESOLUTION_VIA_DEFAULT = ("ip nht resolve-via-default", "ipv6 nht resolve-via-default")

LOCATORS = ("segment-routing", "srv6", "locators")
ENCAPSULATION = ("segment-routing", "srv6", "encapsulation")

# Lists, and routes of ours in the main table: each line is a command of its own, and names the
# list. FRR numbers them; where the order does not matter, the number does not either.
_LIST = re.compile(
    r"(?P<list>(?:ip|ipv6) prefix-list \S+|bgp community-list standard \S+"
    r"|bgp extcommunity-list standard \S+|bgp as-path access-list \S+|ipv6 route \S+)"
    r" (?:seq \d+ )?(?P<line>(?:permit|deny) .*|blackhole tag \d+)"
)
ROUTE_MAP = "route-map "

# Lines of which a context holds one: writing another value replaces it. What a pattern captures
# names it, or else all that the pattern matches.
_SLOTS = tuple(
    map(
        re.compile,
        (
            r"source-address",
            r"prefix",
            r"locator",
            r"bgp router-id",
            r"bgp graceful-restart (?:restart-time|stalepath-time)",
            r"bgp long-lived-graceful-restart stale-time",
            r"maximum-paths(?! ibgp)",
            r"maximum-paths ibgp",
            r"neighbor \S+ (?:interface )?remote-as",
            r"neighbor \S+ update-source",
            r"neighbor \S+ description",
            r"neighbor \S+ password",
            r"neighbor \S+ ebgp-multihop",
            r"neighbor \S+ timers",
            r"(neighbor \S+ route-map) \S+ (in|out)$",
            r"neighbor \S+ (?:maximum-prefix|allowas-in|soo|ttl-security hops|shutdown)",
            r"route-map vpn (?:import|export)",
            r"match (?:(?:ip|ipv6) address prefix-list|community|extcommunity|as-path|tag)",
            r"call",
            r"set (?:local-preference|metric|tag|as-path prepend|community|comm-list)",
            r"sid vpn per-vrf export",
            r"sid vpn export",
            r"rd vpn export",
            # FRR prints `both` when the lists are equal and two lines when they are not; ours
            # always name both directions, so a new one covers whatever was there.
            r"rt vpn(?= (?:import|export|both) )",
            r"is-type",
            r"lsp-timers",
            r"spf-delay-ietf",
            r"set-overload-bit on-startup",
            r"(?:area|domain)-password",
            r"isis (?:metric|hello-interval|hello-multiplier|password)",
            r"ospf6? router-id",
            r"(?:ip ospf|ipv6 ospf6) (?:cost|network)",
        ),
    )
)


_STATIC_ROUTE = re.compile(
    r"(?P<hop>ip(?:v6)? route \S+(?: (?!tag |\d+(?: |$)|bfd$)\S+)+)(?: tag \d+)?(?P<distance> \d+)?"
    r"(?: bfd)?"
)


def slot_of(line: str) -> str | None:
    """The part of a single-valued line that names what it sets."""
    if route := _STATIC_ROUTE.fullmatch(line):
        return route["hop"] + (route["distance"] or "")
    for pattern in _SLOTS:
        if (match := pattern.match(line)) and line[match.end() : match.end() + 1] in ("", " "):
            return " ".join(match.groups()) or match.group()
    return None


def list_line(text: str) -> tuple[str, str] | None:
    """The list that a line at the top belongs to, and what it says of it, without its number; None
    for any other line."""
    found = _LIST.fullmatch(text)
    return (found["list"], found["line"]) if found else None


def is_list(context: tuple[str, ...]) -> bool:
    """Whether it is that of a list, which no command enters."""
    return len(context) == 1 and _LIST.fullmatch(f"{context[0]} permit ") is not None


def is_policy(obj: FrrBlock) -> bool:
    """Whether others refer to it by name and go on without it, with another effect, when it is
    gone: it is changed before they stop to refer to it, and removed after."""
    return is_list(obj.context) or obj.context[0].startswith(ROUTE_MAP)


def negated(line: str) -> str:
    """The command that takes a line of ours back, in the form that FRR 10.3 accepts."""
    if line.startswith("no "):
        return line.removeprefix("no ")
    if line.startswith("sid vpn per-vrf export "):
        return "no sid vpn per-vrf export"
    # Whole lines: the short forms that FRR documents fail for `rd` and `rt` ("Internal CLI
    # error"). `no neighbor X remote-as N` removes the neighbor, with all its lines.
    return f"no {line}"


def order_of(context: tuple[str, ...]) -> int:
    """Place in the order of writing: what others refer to comes first."""
    if context[:1] == ("segment-routing",):
        return 1 if context[:3] == LOCATORS else 0
    if is_list(context):
        return 0
    if context[0].startswith(ROUTE_MAP):
        return 1
    depth = len(context) - 1
    return (20 if " vrf " in context[0] else 10) + depth


def block(
    daemon: str, context: Iterable[str], lines: Iterable[str], serves: tuple[ObjectRef, ...] = ()
) -> FrrBlock:
    """A block with its proper ``order``."""
    path = tuple(context)
    return FrrBlock(daemon, path, tuple(lines), order_of(path), serves)


def same(desired: FrrBlock, observed: FrrBlock) -> bool:
    """The observed context has all our lines; other lines in it do not matter."""
    return desired.key == observed.key and set(desired.lines) <= set(observed.lines)


def ours_of(
    observed: FrrBlock, wanted: FrrBlock | None = None, journaled: Iterable[str] = ()
) -> FrrBlock:
    """The part of an observed block that is ours: lines wanted now or written earlier.

    Equal to ``wanted`` when nothing has to be written. Lines of the operator are left out, so a
    plan made from the result can't remove them.
    """
    standing = set(observed.lines)
    claims = dict.fromkeys((*(wanted.lines if wanted else ()), *journaled))
    return replace(observed, lines=tuple(c for c in claims if c in standing))


def claim(
    observed: Mapping[str, FrrBlock],
    wanted: Iterable[FrrBlock],
    journaled: Mapping[str, Iterable[str]],
) -> dict[str, FrrBlock]:
    """``ours_of`` over a whole observation: the contexts that we want or have written."""
    wants = {b.key: b for b in wanted}
    return {
        key: ours_of(seen, wants.get(key), journaled.get(key, ()))
        for key, seen in observed.items()
        if key in wants or key in journaled
    }
