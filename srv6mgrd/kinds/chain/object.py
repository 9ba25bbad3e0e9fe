"""Objects of service function chains: paths, classifiers and where these hang. Pure."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ClassifierRule, Way

# The program (srv6mgrd/chains/bpf/chains.bpf.c), and where it and its maps are pinned, as those of
# the proxies are.
CLASSIFY = "classify"
CHAIN_PROGRAMS = (CLASSIFY,)
CHAIN_OBJECT = "/usr/lib/srv6mgr/chains.bpf.o"
CHAIN_FOLDER = "/sys/fs/bpf/srv6mgr-chains"
_MAPS = f"pinned {CHAIN_FOLDER}/maps"


@dataclass(frozen=True, slots=True)
class ChainPrograms(Object):
    """The eBPF programs, loaded and pinned. ``intact`` False: some are missing, or of another
    version."""

    rank: ClassVar[int] = 1
    intact: bool = True

    @property
    def key(self) -> str:
        return "chain programs"

    @property
    def label(self) -> str:
        return "programs of service function chains"

    def create_command(self) -> str:
        maps = f"pinmaps {CHAIN_FOLDER}/maps"
        return f"bpftool prog loadall {CHAIN_OBJECT} {CHAIN_FOLDER} {maps}"

    def delete_command(self) -> str:
        return f"rm -r {CHAIN_FOLDER}"

    def difference(self, was: Object) -> str:
        return f"{self.short_label} were incomplete, or of another version"


@dataclass(frozen=True, slots=True)
class ServicePath(Object):
    """One way through a chain for packets of a family: a rendered service path (RFC 7665 section
    2.3). It can be used while all its ``functions`` work. Of those that can, new flows are spread
    by ``weight`` over the ones with the lowest ``preference``. ``functions`` are in the order of
    the hops in both directions, ``segments`` in that of the packets."""

    rank: ClassVar[int] = 42
    chain: str
    way: Way
    family: Family
    functions: tuple[str, ...]
    segments: tuple[IPv6Address, ...]
    source: IPv6Address
    preference: int = 0
    weight: int = 1

    @property
    def key(self) -> str:
        functions = ",".join(self.functions) or "-"
        return f"service path {self.chain} {self.way} {self.family} {functions}"

    @property
    def label(self) -> str:
        functions = " by " + ", ".join(self.functions) if self.functions else " without functions"
        return f"{self.family} path{functions} of chain {self.chain} ({self.way})"

    def create_command(self) -> str:
        segments = ",".join(map(str, self.segments))
        value = f"source {self.source} segments {segments} weight {self.weight}"
        return f"bpftool map update {_MAPS}/paths key {self.key} value {value}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/paths key {self.key}"


@dataclass(frozen=True, slots=True)
class ClassifierRules(Object):
    """The rules of a classifier, which are exchanged all at once. Each names the chain that packets
    take, whose paths come first."""

    rank: ClassVar[int] = 43
    name: str
    rules: tuple[ClassifierRule, ...]

    @property
    def key(self) -> str:
        return f"classifier {self.name}"

    @property
    def label(self) -> str:
        return f"rules of classifier {self.name}"

    def create_command(self) -> str:
        return f"bpftool map update {_MAPS}/rules # {len(self.rules)} rules of {self.name}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/rules # those of {self.name}"

    def difference(self, was: Object) -> str:
        if isinstance(was, ClassifierRules):
            return f"{self.short_label}: {len(set(self.rules) ^ set(was.rules))} differed"
        return Object.difference(self, was)

    def remedy(self, code: int) -> str:
        if code == errno.E2BIG:
            return "use fewer lengths of prefixes and fewer criteria, or several classifiers"
        return Object.remedy(self, code)


@dataclass(frozen=True, slots=True)
class ClassifierHook(Object):
    """Has the packets that come in on an interface classified. ``current`` False: the program is of
    another version."""

    rank: ClassVar[int] = 44
    interface: str
    classifier: str
    current: bool = True

    @property
    def key(self) -> str:
        return f"classifier hook {self.interface}"

    @property
    def label(self) -> str:
        return f"classifier on {self.interface}"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    def create_command(self) -> str:
        program = f"{CHAIN_FOLDER}/{CLASSIFY}"
        return f"bpftool net attach tcx_ingress pinned {program} dev {self.interface}"

    def delete_command(self) -> str:
        return f"bpftool net detach tcx_ingress dev {self.interface}"

    def difference(self, was: Object) -> str:
        if isinstance(was, ClassifierHook) and was.classifier == self.classifier:
            return f"{self.short_label} ran another program"
        return Object.difference(self, was)

    def remedy(self, code: int) -> str:
        if code == errno.EOPNOTSUPP:
            return "classify on an Ethernet interface"
        return Object.remedy(self, code)
