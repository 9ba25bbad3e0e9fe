"""Lines of ours in a configuration context of FRR. Pure."""

from __future__ import annotations

import errno
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names
from srv6mgrd.model.status import ObjectRef


@dataclass(frozen=True, slots=True)
class FrrBlock(Object):
    """One configuration context of an FRR daemon and the lines of ours in it.

    ``context`` is the path of commands that enters it, outermost first, for example
    ``("router bgp 65000 vrf red", "address-family ipv4 unicast")``. ``lines`` are ours alone;
    other lines there are the operator's. ``order`` orders blocks: enclosing contexts first.
    ``part`` distinguishes blocks of one context: the lines that begin with it.
    """

    daemon: str
    context: tuple[str, ...]
    lines: tuple[str, ...]
    rank: ClassVar[int] = 70
    bears_mark: ClassVar[bool] = False
    order: int = 0
    # The declared objects that it is for, where its context does not name them.
    serves: tuple[ObjectRef, ...] = field(default=(), compare=False, repr=False)
    part: str = ""

    @property
    def key(self) -> str:
        return f"frr {self.daemon} {self.place}"

    @property
    def place(self) -> str:
        """Where its lines are, for people."""
        return " / ".join((*self.context, *filter(None, (self.part,))))

    @property
    def label(self) -> str:
        if self.part:
            vrf = self.context[0].removeprefix("vrf ")
            return names.static_route(self.part.split()[-1], vrf)
        return self.short_label

    @property
    def short_label(self) -> str:
        return f"FRR {self.daemon} '{self.place}'"

    @property
    def owned_lines(self) -> tuple[str, ...]:
        return self.lines

    def create_command(self) -> str:
        return self._vtysh((), self.lines)

    def replace_command(self, before: Object) -> str:
        old = before.lines if isinstance(before, FrrBlock) else ()
        return self._vtysh(
            (line for line in old if line not in self.lines),
            (line for line in self.lines if line not in old),
        )

    def delete_command(self) -> str:
        return self._vtysh(self.lines, ())

    def _vtysh(self, gone: Iterable[str], come: Iterable[str]) -> str:
        """The lines that come and go, in their context."""
        lines = ["configure", *self.context, *map(without_secret, [*map(_undone, gone), *come])]
        return "vtysh " + " ".join(f"-c {shlex.quote(line)}" for line in lines)

    def difference(self, was: Object) -> str:
        if not isinstance(was, FrrBlock):
            return Object.difference(self, was)
        lacking = [line for line in self.lines if line not in was.lines]
        more = [line for line in was.lines if line not in self.lines]
        verb, lines = ("lacked", lacking) if lacking else ("had", more)
        if not lines:
            return f"{self.short_label} had another order"
        rest = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        return f"{self.short_label} {verb} '{without_secret(lines[0])}'{rest}"

    def remedy(self, code: int) -> str:
        if code in (errno.EPERM, errno.EACCES, errno.EOPNOTSUPP):
            return Object.remedy(self, code)
        return "correct the configuration, or FRR's own where it is in the way"

    def __repr__(self) -> str:
        """For logs and tracebacks."""
        lines = tuple(map(without_secret, self.lines))
        part = f", part={self.part!r}" if self.part else ""
        return f"FrrBlock({self.daemon!r}, {self.context!r}, {lines!r}, order={self.order}{part})"


def _undone(line: str) -> str:
    return line.removeprefix("no ") if line.startswith("no ") else f"no {line}"


def without_secret(line: str) -> str:
    """A line of FRR's configuration as it may be reported and logged."""
    return hide_secret(line, line)


# All that follows these words, be it a password of BGP or of IS-IS, or a key of OSPF or OSPFv3; it
# may name how it is used first.
_SECRET = re.compile(
    r"(?:(?:^|[ -])password|message-digest-key \d+|authentication key-id \d+)"
    r" (?P<all>(?:(?:md5|clear|hash-algo \S+ key) )?(?P<secret>\S+).*)"
)


def hide_secret(line: str, text: str) -> str:
    """A text about a line of FRR's configuration, which may repeat that line or its secret."""
    found = _SECRET.search(line)
    if found is None:
        return text
    text = text.replace(found[0], f"{found[0].removesuffix(found['all'])}...")
    return re.sub(rf"(?<!\w){re.escape(found['secret'])}(?!\w)", "...", text)
