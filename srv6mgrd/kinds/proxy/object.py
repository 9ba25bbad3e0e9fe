"""What service proxies consist of. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import ClassVar, Literal

from srv6mgrd.kinds.object import Object, changes
from srv6mgrd.model.behavior import Behavior

# The programs of the proxies (srv6mgrd/proxy/bpf/proxy.bpf.c) by what they are for.
TOWARD_FUNCTION = "toward_function"
TOWARD_AGAIN = "toward_again"
TOWARD_LOCAL = "toward_local"
BACK_FUNCTION = "back_function"
# Where they are installed, and where they and their maps are pinned, which is our mark on them: in
# the initial network namespace. Others append their number (proxy.programs).
PROXY_OBJECT = "/usr/lib/srv6mgr/proxy.bpf.o"
PROXY_FOLDER = "/sys/fs/bpf/srv6mgr"
PROXY_PROGRAMS = (TOWARD_FUNCTION, TOWARD_AGAIN, TOWARD_LOCAL, BACK_FUNCTION)


@dataclass(frozen=True, slots=True)
class ProxyPrograms(Object):
    """The eBPF programs of all proxies, loaded and pinned. ``intact`` False: some are missing, or
    of another version."""

    rank: ClassVar[int] = 35
    intact: bool = True

    @property
    def key(self) -> str:
        return "proxy programs"

    @property
    def label(self) -> str:
        return "programs of the proxies"

    def create_command(self) -> str:
        return f"bpftool prog loadall {PROXY_OBJECT} {PROXY_FOLDER} pinmaps {PROXY_FOLDER}/maps"

    def delete_command(self) -> str:
        return f"rm -r {PROXY_FOLDER}"

    def difference(self, was: Object) -> str:
        return f"{self.short_label} were incomplete, or of another version"


@dataclass(frozen=True, slots=True)
class ProxyEntry(Object):
    """What the programs know of one proxy: ``age`` in seconds; ``source`` and ``segments`` those
    that End.AS restores. ``current`` False: it does not fit the interfaces as they are now."""

    rank: ClassVar[int] = 48
    prefix: IPv6Network
    behavior: Behavior
    inner_type: str
    interface: str
    return_interface: str
    next_hop: IPv4Address | IPv6Address | None = None
    source: IPv6Address | None = None
    segments: tuple[IPv6Address, ...] = ()
    age: int = 0
    decrement_hop_limit: bool = True
    passes: tuple[str, ...] = ()
    per_flow: bool = False
    current: bool = True

    @property
    def key(self) -> str:
        return f"proxy {self.prefix}"

    @property
    def label(self) -> str:
        return f"proxy SID {self.prefix}"

    @property
    def short_label(self) -> str:
        return f"proxy on {self.interface}"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return self.interface, self.return_interface

    @property
    def _place(self) -> str:
        return f"pinned {PROXY_FOLDER}/maps/proxies key {self.prefix}"

    def create_command(self) -> str:
        words = [self.behavior, self.inner_type, f"dev {self.interface}"]
        words += [f"via {self.next_hop}"] if self.next_hop is not None else []
        words += [f"back {self.return_interface}"]
        if self.segments:
            words += [f"src {self.source} segs {','.join(map(str, self.segments))}"]
        words += [f"age {self.age}"] if self.age else []
        words += ["per-flow"] if self.per_flow else []
        words += ["transparent"] if not self.decrement_hop_limit else []
        words += [f"pass {','.join(self.passes)}"] if self.passes else []
        return f"bpftool map update {self._place} value {' '.join(words)}"

    def delete_command(self) -> str:
        return f"bpftool map delete {self._place}"

    def difference(self, was: Object) -> str:
        if not isinstance(was, ProxyEntry) or was.current:
            return Object.difference(self, was)
        fitting = replace(was, current=True)
        more = f"; {changes(fitting, self)}" if fitting != self else ""
        return f"{self.short_label} did not fit its interface{more}"


@dataclass(frozen=True, slots=True)
class ProxyHook(Object):
    """Has one of the programs run on an interface. ``current`` False: the program is of another
    version."""

    rank: ClassVar[int] = 56
    interface: str
    program: str
    current: bool = True

    @property
    def key(self) -> str:
        return f"proxy hook {self.interface} {self.side}"

    @property
    def label(self) -> str:
        return f"{self.side} hook of the proxies on {self.interface}"

    @property
    def side(self) -> Literal["ingress", "egress"]:
        return "egress" if self.program == TOWARD_LOCAL else "ingress"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    def create_command(self) -> str:
        program = f"{PROXY_FOLDER}/{self.program}"
        return f"bpftool net attach tcx_{self.side} pinned {program} dev {self.interface}"

    def delete_command(self) -> str:
        return f"bpftool net detach tcx_{self.side} dev {self.interface}"

    def difference(self, was: Object) -> str:
        if isinstance(was, ProxyHook) and was.program == self.program:
            return f"{self.short_label} ran another program"
        return Object.difference(self, was)
