"""What the core asks of the world: a Protocol per adapter, so that tests can replace it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Protocol

from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.accounting import Accounted
from srv6mgrd.model.chain_state import ChainCounts
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.observed import Links, Observed


class AdapterError(Exception):
    """What an adapter stands for can't be reached or read: ``object: cause; remedy``."""

    def __init__(self, what: str, cause: str, remedy: str) -> None:
        super().__init__(f"{what}: {cause}; {remedy}")
        self.what = what
        self.cause = cause
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class RejectedAction:
    """An action that was rejected: errno (0 when there is none) and message.

    ``by`` says who rejected it, when that is neither the kernel nor FRR; ``in_doubt`` that the
    answer was lost, so that it may have been carried out; ``remedy`` is what helps, where that is
    known.
    """

    action: Action
    errno: int
    message: str
    by: str = ""
    in_doubt: bool = False
    remedy: str = ""


class Kernel(Protocol):
    """Reads and writes the kernel of one network namespace. Raises AdapterError when that can't be
    done at all; what was under way then may have been carried out."""

    def links(self) -> Links:
        """All links as they are now."""
        ...

    def observe(self, sysctls: Iterable[str]) -> Observed:
        """One consistent dump; dumps that the kernel interrupted are taken again. Its changes are
        those since the last call: it has one caller."""
        ...

    def force_full_resync(self) -> None:
        """Have the next ``observe`` read everything from the kernel, whatever was kept of what it
        said before."""
        ...

    def apply(self, actions: Sequence[Action]) -> list[RejectedAction]:
        """Carry out actions on kernel objects in order; return those rejected, the rest is done."""
        ...

    def clear_static_routes(
        self, table: int, prefixes: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        """Remove FRR's static routes to these prefixes from the table of a VRF that has gone. One
        without a device outlives the VRF, and a zebra that died meanwhile removes it no more: it
        reads no table without a VRF (zebra_vrf_lookup_by_table)."""
        ...

    def sid_counters(self) -> Mapping[IPv6Network, tuple[int, int, int]]:
        """packets, bytes, errors of every SID of ours, all of one moment; the very mapping of the
        last time when nothing can have counted since."""
        ...

    def proxies(self) -> Mapping[IPv6Network, ProxyState]:
        """Counters and present chain of every service proxy of ours."""
        ...

    def chain_counts(self) -> ChainCounts:
        """What classifiers and service function chains counted."""
        ...

    def function_states(self) -> Mapping[str, FunctionState]:
        """Of service functions, as chains have them; those without one are up."""
        ...

    def accounted(self, lists: Iterable[Sequence[IPv6Address]] = ()) -> Accounted:
        """What accounting counted; ``lists`` are the segment lists that are declared."""
        ...

    @property
    def writes(self) -> int:
        """How many write requests (netlink messages, sysctl writes) were issued so far."""
        ...


class Frr(Protocol):
    """Reads and writes FRR's configuration."""

    def observe(self) -> Mapping[str, FrrBlock] | None:
        """All contexts of the running configuration by key; None when FRR can't be reached."""
        ...

    @property
    def names_lookup_tables(self) -> bool:
        """Whether at the last ``observe`` each of FRR's SRv6 routes that leads out of its VRF
        named the table in which its outer header is looked up."""
        ...

    def apply(self, actions: Sequence[Action], *, atomic: bool = False) -> list[RejectedAction]:
        """Carry out actions on FrrBlocks in order; return those rejected. ``atomic`` ones belong to
        a commit: what FRR would accept in vain is rejected, too."""
        ...

    def meet(self, vrfs: Sequence[str]) -> None:
        """Called after the devices of VRFs were made: return once FRR knows them, or after a while
        in any case. Does nothing when FRR can't be reached."""
        ...

    def see_off(self, vrfs: Sequence[str]) -> None:
        """Return once FRR has noticed that these VRF devices have gone, or can be waited for no
        longer: before others of their names are made."""
        ...

    def let_go(self, vrfs: Sequence[str]) -> None:
        """Called before the devices of VRFs are removed: return once FRR has nothing under way for
        them, or after a while in any case. Does nothing when FRR can't be reached."""
        ...
