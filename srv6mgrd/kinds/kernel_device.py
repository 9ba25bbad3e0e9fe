"""How devices of ours get into the kernel (net/core/rtnetlink.c)."""

from __future__ import annotations

import errno
import socket
from abc import abstractmethod
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from srv6mgrd.kinds.batch import Batch, unless_gone
from srv6mgrd.kinds.device import Device, UnknownLink
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import KernelKind, not_ours_to_write
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.actions import Action, Create, Delete

_D = TypeVar("_D", bound=Device)


class KernelDevice(KernelKind, Generic[_D]):
    """Makes, marks and deletes devices of one kind."""

    groups = MappingProxyType({wire.NETLINK_ROUTE: (wire.RTNLGRP_LINK,)})

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        # A bridge port's state is of another family (br_ifinfo_notify).
        if message not in (wire.RTM_NEWLINK, wire.RTM_DELLINK) or body[0] != socket.AF_UNSPEC:
            return None
        link = links.decode(body)
        removed = message == wire.RTM_DELLINK
        return KernelEvent(EventKind.LINK, f"link {link.name}", removed, link.ours)

    @abstractmethod
    def made(self, batch: Batch, device: _D) -> bytes | Failure:
        """The request that makes it, down and without a mark."""

    @abstractmethod
    def marked(self, device: _D) -> bytes:
        """The request that gives it our mark, and its administrative state if that is its own."""

    @abstractmethod
    def is_live(self, batch: Batch, found: Link, device: _D) -> bool:
        """Whether what is there only lacks our mark or its administrative state."""

    def write(self, batch: Batch, action: Action) -> Failure | None:
        batch.forget_devices()
        obj = action.object
        if isinstance(action, Delete) and isinstance(obj, Device | UnknownLink):
            return _delete(batch, obj.name)
        if not isinstance(obj, Device):
            return not_ours_to_write(obj)
        # The only one among ``kinds``.
        device = cast(_D, obj)
        found = batch.link(device.name)
        if found is None:
            return self._create(batch, device)
        if isinstance(action, Create):
            what = f"a {found.kind} device" if found.kind else "a device"
            message = f"{what} of this name is there already, which srv6mgr did not make"
            return Failure(errno.EEXIST, message)
        if self.is_live(batch, found, device):
            return batch.one(self.marked(device))
        # vrf_changelink: a live VRF keeps its table; and no link changes its ifindex.
        return batch.one(links.delete(found.index)) or self._create(batch, device)

    def _create(self, batch: Batch, device: _D) -> Failure | None:
        """Make a device that is not there and mark it in one send: a process that is killed leaves
        both or none. Its name was looked up first, since the second message would mark a stranger
        if the first one met it."""
        request = self.made(batch, device)
        if isinstance(request, Failure):
            return request
        failures = batch.send([request, self.marked(device)])
        if 0 in failures:
            return failures[0]
        if 1 in failures:
            _delete(batch, device.name, forced=True)
        return failures.get(1)


def _delete(batch: Batch, name: str, *, forced: bool = False) -> Failure | None:
    found = batch.link(name)
    if found is None:
        return None
    if not (found.ours or forced):
        return Failure(errno.EPERM, f"link {name} does not have our alias")
    return unless_gone(batch.one(links.delete(found.index)))
