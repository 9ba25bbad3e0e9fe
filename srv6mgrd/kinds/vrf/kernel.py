"""VRF devices, written and read back (drivers/net/vrf.c)."""

from __future__ import annotations

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_device import KernelDevice
from srv6mgrd.kinds.kernel_kind import Decode
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.observed import ObservedObject


class VrfDevices(KernelDevice[VrfDevice]):
    kinds = (VrfDevice,)

    def made(self, batch: Batch, device: VrfDevice) -> bytes:
        table = wire.nla_u32(wire.IFLA_VRF_TABLE, device.table)
        return links.create(device.name, links.VRF, index=device.ifindex, data=table)

    def marked(self, device: VrfDevice) -> bytes:
        return links.mark(device.name, up=device.up)

    def is_live(self, batch: Batch, found: Link, device: VrfDevice) -> bool:
        return found.kind == links.VRF and device.keeps(_device(found))

    def dump(self, reader: Reader) -> Decode:
        return lambda: self.by_key(
            [
                ObservedObject(_device(link), link.ours)
                for link in reader.links
                if link.kind == links.VRF
            ]
        )


def _device(link: Link) -> VrfDevice:
    return VrfDevice(link.name, link.table, link.index, link.up)
