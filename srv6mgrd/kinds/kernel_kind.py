"""How objects get into the kernel and back: what LinuxKernel asks of each kind."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from srv6mgrd.accounting.programs import AccountingPrograms
from srv6mgrd.chains.programs import ChainPrograms
from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.kernel_event import KernelEvent
from srv6mgrd.kinds.object import Object
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.observed import ObservedObject
from srv6mgrd.proxy.programs import Programs

if TYPE_CHECKING:
    from srv6mgrd.kinds.batch import Batch
    from srv6mgrd.kinds.reader import Reader
    from srv6mgrd.kinds.sid.notices import SidNotices

# What was dumped, decoded once all links are known: objects by key, for the caller to keep.
Decode = Callable[[], dict[str, ObservedObject]]


@dataclass(frozen=True, slots=True)
class Host:
    """What kinds read and write with. ``programs`` are those of the proxies, ``accounting`` and
    ``chains`` those of accounting and of service function chains; with ``notices`` the SID table is
    kept up with what the kernel reports."""

    netlink: NetlinkSocket
    proc_sys: Path
    programs: Programs | None = None
    accounting: AccountingPrograms | None = None
    chains: ChainPrograms | None = None
    notices: SidNotices | None = None


class KernelKind:
    """Writes and reads the kinds of objects in ``kinds``; one for each LinuxKernel."""

    kinds: ClassVar[tuple[type[Object], ...]]
    # Whether VLANs have to have followed the interface below them before it is written.
    awaits_vlans: ClassVar[bool] = True
    # Multicast groups in which the kernel reports their changes, by netlink protocol.
    groups: ClassVar[Mapping[int, tuple[int, ...]]] = MappingProxyType({})

    def __init__(self, host: Host) -> None:
        self._host = host

    def close(self) -> None:
        """Sockets of its own."""

    def packed(self, batch: Batch, action: Action) -> bytes | Failure | None:
        """The one message of an action, which is sent with others; None when it takes more."""
        return None

    def write(self, batch: Batch, action: Action) -> Failure | None:
        """Carry out what is more than one message."""
        return not_ours_to_write(action.object)

    def writing(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        """What holds while these are carried out, be they of this kind or not."""
        return contextlib.nullcontext()

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        """These were carried out, but for the rejected ones, given by key."""

    def dump(self, reader: Reader) -> Decode:
        """Read all that is there of these kinds."""
        return dict

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        """A notification, given its type and what is behind the netlink header; None when it is of
        no interest."""
        return None

    @staticmethod
    def by_key(found: Sequence[ObservedObject]) -> dict[str, ObservedObject]:
        return {item.object.key: item for item in found}


def devices(actions: Sequence[Action]) -> frozenset[str]:
    """Names of links that these make, or remove: their ifindex is another then."""
    return frozenset(a.object.name for a in actions if isinstance(a.object, Device))


def not_ours_to_write(obj: Object) -> Failure:
    return Failure(errno.EOPNOTSUPP, f"{obj.key} can't be put back: it was not of our making")


def no_interface(name: str) -> Failure:
    return Failure(errno.ENODEV, f"interface {name} does not exist")
