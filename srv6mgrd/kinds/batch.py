"""Carries out actions: one message each where that will do, gathered and sent together."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence

from srv6mgrd.kinds.kernel_kind import KernelKind, not_ours_to_write
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.stacked_vlans import StackedVlans
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import BATCH, NetlinkSocket
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.ports import RejectedAction

# What a deletion meets when the thing is gone already: routes ESRCH, rules ENOENT, links ENODEV,
# addresses EADDRNOTAVAIL.
_GONE = frozenset({errno.ESRCH, errno.ENOENT, errno.ENODEV, errno.EADDRNOTAVAIL})


class Batch:
    """One run over a list of actions. What is one message is gathered and sent with others, in
    order with the rest; what needs an answer before its next step goes alone. ``writes`` counts
    both."""

    def __init__(self, netlink: NetlinkSocket, kinds: Mapping[type[Object], KernelKind]) -> None:
        self._netlink = netlink
        self._kinds = kinds
        self._actions: Sequence[Action] = ()
        self._requests: list[bytes] = []
        self._owners: list[int] = []
        self._rejected: dict[int, Failure] = {}
        self._devices: dict[str, int] = {}
        self.vlans = StackedVlans(self._links, self.link)
        self.writes = 0

    def carry_out(self, actions: Sequence[Action]) -> list[RejectedAction]:
        self._actions = actions
        for position, action in enumerate(actions):
            kind = self._kinds.get(type(action.object))
            if kind is None:
                self._rejected[position] = Failure(errno.EINVAL, "not an object of the kernel")
                continue
            if kind.awaits_vlans:
                self.vlans.settle()
            request = kind.packed(self, action)
            if isinstance(request, bytes):
                self._requests.append(request)
                self._owners.append(position)
                if len(self._requests) == BATCH:
                    self.flush()
                continue
            if request is None:
                self.flush()
                request = kind.write(self, action)
            if request is not None:
                self._rejected[position] = request
        self.flush()
        self.vlans.settle()
        # ``vlans`` refers to this object: what is left of it may stay for good (memory.py).
        self._actions = ()
        return [
            RejectedAction(
                actions[position],
                failure.errno,
                failure.message,
                # NetlinkSocket.write: the answers were lost, not the requests.
                in_doubt=failure.errno == errno.ENOBUFS,
            )
            for position, failure in sorted(self._rejected.items())
        ]

    def flush(self) -> None:
        """Send what was gathered."""
        if not self._requests:
            return
        for at, failure in self.send(self._requests).items():
            position = self._owners[at]
            if not (isinstance(self._actions[position], Delete) and failure.errno in _GONE):
                self._rejected[position] = failure
        self._requests.clear()
        self._owners.clear()

    # For kinds.

    def send(self, requests: Sequence[bytes]) -> dict[int, Failure]:
        """Requests that belong together, in one send: a process that is killed leaves all of them
        or none. Failures by position."""
        self.writes += len(requests)
        return self._netlink.write(requests)

    def call(self, write: Callable[[], Failure | None]) -> Failure | None:
        """A write by another way than routing netlink."""
        self.writes += 1
        return write()

    def one(self, request: bytes) -> Failure | None:
        return self.send([request]).get(0)

    def remove(self, request: bytes) -> Failure | None:
        """What is gone already is no failure."""
        return unless_gone(self.one(request))

    def remove_object(self, obj: Object) -> Failure | None:
        """An object of whatever kind whose removal is one message."""
        kind = self._kinds.get(type(obj))
        request = kind.packed(self, Delete(obj)) if kind is not None else None
        return self.remove(request) if isinstance(request, bytes) else not_ours_to_write(obj)

    def link(self, name: str) -> Link | None:
        answer = self._netlink.read(links.get(name))
        return None if isinstance(answer, Failure) else links.decode(answer)

    def index(self, device: str) -> int | Failure:
        """The ifindex of a device, which is asked for once."""
        if (index := self._devices.get(device)) is None:
            # The device may be among what is still to be sent.
            self.flush()
            if (link := self.link(device)) is None:
                return Failure(errno.ENODEV, f"device {device} does not exist")
            index = self._devices[device] = link.index
        return index

    def forget_devices(self) -> None:
        """Devices come or go."""
        self._devices.clear()
        self.vlans.forget()

    def _links(self) -> list[Link]:
        return links.read_all(self._netlink)


def unless_gone(failure: Failure | None) -> Failure | None:
    return None if failure is None or failure.errno in _GONE else failure
