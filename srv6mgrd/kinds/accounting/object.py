"""Objects of accounting. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import ClassVar, Literal

from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.status import Kind, ObjectRef

# The programs (srv6mgrd/accounting/bpf/accounting.bpf.c), by the side of an interface.
SENT, RECEIVED = "sent", "received"
ACCOUNTING_PROGRAMS = (SENT, RECEIVED)
# Where they are installed, and where they and their maps are pinned, as those of the proxies are.
ACCOUNTING_OBJECT = "/usr/lib/srv6mgr/accounting.bpf.o"
ACCOUNTING_FOLDER = "/sys/fs/bpf/srv6mgr-accounting"
_MAPS = f"pinned {ACCOUNTING_FOLDER}/maps"


@dataclass(frozen=True, slots=True)
class AccountingPrograms(Object):
    """The eBPF programs, loaded and pinned. ``intact`` False: some are missing, or of another
    version."""

    rank: ClassVar[int] = 1
    intact: bool = True

    @property
    def key(self) -> str:
        return "accounting programs"

    @property
    def label(self) -> str:
        return "programs of accounting"

    def create_command(self) -> str:
        maps = f"pinmaps {ACCOUNTING_FOLDER}/maps"
        return f"bpftool prog loadall {ACCOUNTING_OBJECT} {ACCOUNTING_FOLDER} {maps}"

    def delete_command(self) -> str:
        return f"rm -r {ACCOUNTING_FOLDER}"

    def difference(self, was: Object) -> str:
        return f"{self.short_label} were incomplete, or of another version"


@dataclass(frozen=True, slots=True)
class AccountingSources(Object):
    """Outer source addresses of packets that this router encapsulates, in order; the first one is
    the common one."""

    rank: ClassVar[int] = 2
    addresses: tuple[IPv6Address, ...]

    @property
    def key(self) -> str:
        return "accounting sources"

    @property
    def label(self) -> str:
        return "source addresses of accounting"

    def create_command(self) -> str:
        shown = ",".join(map(str, self.addresses))
        return f"bpftool map update {_MAPS}/nodes key 0 value source {shown}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/nodes key 0"


@dataclass(frozen=True, slots=True)
class AccountedVrf(Object):
    """The ifindex by which packets of a VRF are known. It comes between the VRF device and its
    ports: no packet of this VRF is counted for another one that had the ifindex, nor the other
    way round."""

    rank: ClassVar[int] = 5
    name: str
    ifindex: int

    @property
    def key(self) -> str:
        return f"accounting vrf {self.name}"

    @property
    def label(self) -> str:
        return f"accounting of {names.vrf(self.name)}"

    def create_command(self) -> str:
        return f"bpftool map update {_MAPS}/vrfs key {self.ifindex} value {self.name}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/vrfs key {self.ifindex}"


@dataclass(frozen=True, slots=True)
class AccountedPort(Object):
    """A port of a VRF whose packets a classifier encapsulates: they never come by the VRF, and are
    known by the port."""

    rank: ClassVar[int] = 6
    interface: str
    ifindex: int
    vrf: str

    @property
    def key(self) -> str:
        return f"accounting port {self.interface}"

    @property
    def label(self) -> str:
        return f"accounting of {names.interface(self.interface)}"

    def create_command(self) -> str:
        return f"bpftool map update {_MAPS}/vrfs key {self.ifindex} value {self.vrf}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/vrfs key {self.ifindex}"


@dataclass(frozen=True, slots=True)
class AccountedSid(Object):
    """A SID that decapsulates, the VRF that its packets are counted for (None: the default one),
    and the families that it takes."""

    rank: ClassVar[int] = 40
    prefix: IPv6Network
    vrf: str | None
    families: tuple[Family, ...]

    @property
    def key(self) -> str:
        return f"accounting sid {self.prefix}"

    @property
    def label(self) -> str:
        return f"accounting of SID {self.prefix}"

    @property
    def declared(self) -> ObjectRef:
        return ObjectRef(Kind.SID, str(self.prefix))

    def create_command(self) -> str:
        value = f"vrf {self.vrf or 'default'} families {','.join(self.families)}"
        return f"bpftool map update {_MAPS}/sids key {self.prefix} value {value}"

    def delete_command(self) -> str:
        return f"bpftool map delete {_MAPS}/sids key {self.prefix}"


@dataclass(frozen=True, slots=True)
class AccountingHook(Object):
    """Has one of the programs run on an interface. ``current`` False: the program is of another
    version."""

    rank: ClassVar[int] = 41
    interface: str
    program: str
    current: bool = True

    @property
    def key(self) -> str:
        return f"accounting hook {self.interface} {self.side}"

    @property
    def label(self) -> str:
        return f"{self.side} hook of accounting on {self.interface}"

    @property
    def side(self) -> Literal["ingress", "egress"]:
        return "egress" if self.program == SENT else "ingress"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    def create_command(self) -> str:
        program = f"{ACCOUNTING_FOLDER}/{self.program}"
        return f"bpftool net attach tcx_{self.side} pinned {program} dev {self.interface}"

    def delete_command(self) -> str:
        return f"bpftool net detach tcx_{self.side} dev {self.interface}"

    def difference(self, was: Object) -> str:
        if isinstance(was, AccountingHook) and was.program == self.program:
            return f"{self.short_label} ran another program"
        return Object.difference(self, was)
