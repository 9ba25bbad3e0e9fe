"""802.1Q subinterfaces, written and read back (net/8021q)."""

from __future__ import annotations

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_device import KernelDevice
from srv6mgrd.kinds.kernel_kind import Decode, no_interface
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.observed import ObservedObject


class VlanDevices(KernelDevice[VlanDevice]):
    kinds = (VlanDevice,)

    def made(self, batch: Batch, device: VlanDevice) -> bytes | Failure:
        if (below := batch.link(device.parent)) is None:
            return no_interface(device.parent)
        tag = wire.nla_u16(wire.IFLA_VLAN_ID, device.id)
        return links.create(device.name, links.VLAN, parent=below.index, data=tag)

    def marked(self, device: VlanDevice) -> bytes:
        # Its administrative state is an object of its own.
        return links.mark(device.name)

    def is_live(self, batch: Batch, found: Link, device: VlanDevice) -> bool:
        below = batch.link(device.parent)
        return below is not None and (found.parent, found.vlan) == (below.index, device.id)

    def dump(self, reader: Reader) -> Decode:
        return lambda: self.by_key(
            [
                ObservedObject(
                    VlanDevice(link.name, below.name, link.vlan, reader.depth(link)), link.ours
                )
                for link in reader.links
                if link.kind != links.VRF and (below := reader.below(link)) is not None
            ]
        )
