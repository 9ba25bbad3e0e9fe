"""VLANs follow the administrative state of the interface below them (vlan_device_event): they go
down with it, and up with it whatever they were before.

Up to now the kernel did so within the request that changed the interface. Linux 7.3 does it behind
that request: a VLAN that is set down at once after its parent went up is raised again, and an
address that is put on a VLAN at once after its parent went down is removed again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from srv6mgrd.netlink.links import Link

# It takes a millisecond, or as long as other work of the kernel keeps the CPU.
_TIMEOUT_S = 0.5
_LOOK_S = 0.0005


class StackedVlans:
    """Waits for them, once for changes that follow each other."""

    def __init__(
        self,
        links: Callable[[], Sequence[Link]],
        link: Callable[[str], Link | None],
        *,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        """``links`` reads all links, ``link`` one of them by name."""
        self._links, self._link = links, link
        self._timeout = timeout
        # By the ifindex of the interface below, as far as that was read.
        self._above: dict[int, list[Link]] | None = None
        self._changed: dict[str, Link] = {}

    def forget(self) -> None:
        """Devices come or go."""
        self._above = None

    def changed(self, link: Link) -> None:
        """This interface went up, down, or down and up."""
        self._changed[link.name] = link

    def settle(self) -> None:
        """Return when the VLANs above what changed have followed, or after a while."""
        changed, self._changed = list(self._changed.values()), {}
        deadline = time.monotonic() + self._timeout
        while changed:
            link = changed.pop()
            above = self._on(link)
            below = self._link(link.name) if above else None
            if below is None:
                continue
            for vlan in above:
                self._wait(vlan.name, up=below.up, deadline=deadline)
                changed.append(vlan)

    def _on(self, link: Link) -> Sequence[Link]:
        if self._above is None:
            self._above = defaultdict(list)
            for vlan in self._links():
                if vlan.parent and not vlan.loose:
                    self._above[vlan.parent].append(vlan)
        return self._above.get(link.index, ())

    def _wait(self, name: str, *, up: bool, deadline: float) -> None:
        while (vlan := self._link(name)) is not None and vlan.up != up:
            if time.monotonic() > deadline:
                return
            time.sleep(_LOOK_S)
