"""MTUs of interfaces, written and read back."""

from __future__ import annotations

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, no_interface, not_ours_to_write
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject


class LinkMtus(KernelKind):
    kinds = (LinkMtu,)

    def write(self, batch: Batch, action: Action) -> Failure | None:
        wanted = action.object
        if not isinstance(wanted, LinkMtu):
            return not_ours_to_write(wanted)
        if isinstance(action, Delete):
            return None
        if (link := batch.link(wanted.interface)) is None:
            return no_interface(wanted.interface)
        return batch.one(links.set_mtu(link.index, wanted.mtu))

    def dump(self, reader: Reader) -> Decode:
        return lambda: self.by_key(
            [
                ObservedObject(LinkMtu(link.name, link.mtu, reader.depth(link)), ours=False)
                for link in reader.links
                if link.mtu
            ]
        )
