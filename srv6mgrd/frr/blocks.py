"""What a block of ours is, in FRR's terms: its order, its slots, its negation, its comparison.

An observed block holds every line of its context, the operator's too; a block of ours holds ours
alone. They are compared with ``same`` and cut to size with ``ours_of``, so that lines which are
not ours never enter a plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from srv6mgrd.plan.objects import FrrBlock

ZEBRA = "zebra"
BGPD = "bgpd"
ISISD = "isisd"

LOCATORS = ("segment-routing", "srv6", "locators")
ENCAPSULATION = ("segment-routing", "srv6", "encapsulation")

# Lines of which a context holds one: writing another value replaces it.
_SLOTS = tuple(
    map(
        re.compile,
        (
            r"source-address",
            r"prefix",
            r"locator",
            r"bgp router-id",
            r"neighbor \S+ remote-as",
            r"neighbor \S+ update-source",
            r"neighbor \S+ description",
            r"neighbor \S+ password",
            r"neighbor \S+ ebgp-multihop",
            r"neighbor \S+ timers",
            r"sid vpn per-vrf export",
            r"sid vpn export",
            r"rd vpn export",
            # FRR prints `both` when the lists are equal and two lines when they are not; ours
            # always name both directions, so a new one covers whatever was there.
            r"rt vpn(?= (?:import|export|both) )",
            r"is-type",
            r"isis metric",
        ),
    )
)


def slot_of(line: str) -> str | None:
    """The part of a single-valued line that names what it sets."""
    for pattern in _SLOTS:
        if (match := pattern.match(line)) and line[match.end() : match.end() + 1] == " ":
            return match.group()
    return None


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
    depth = len(context) - 1
    return (20 if " vrf " in context[0] else 10) + depth


def block(daemon: str, context: Iterable[str], lines: Iterable[str]) -> FrrBlock:
    """A block with its proper ``order``."""
    path = tuple(context)
    return FrrBlock(daemon, path, tuple(lines), order_of(path))


def same(desired: FrrBlock, observed: FrrBlock) -> bool:
    """All our lines stand in the observed context; what else stands there does not matter."""
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
    return block(observed.daemon, observed.context, (c for c in claims if c in standing))


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
