"""Dummy devices, written and read back."""

from __future__ import annotations

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.kernel_device import KernelDevice
from srv6mgrd.kinds.kernel_kind import Decode
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.netlink import links
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.observed import ObservedObject


class DummyDevices(KernelDevice[DummyDevice]):
    """Also reads and deletes what has our mark or a name of ours, and is no kind of device that
    we make."""

    kinds = (DummyDevice, UnknownLink)

    def made(self, batch: Batch, device: DummyDevice) -> bytes:
        return links.create(device.name, links.DUMMY)

    def marked(self, device: DummyDevice) -> bytes:
        return links.mark(device.name, up=True)

    def is_live(self, batch: Batch, found: Link, device: DummyDevice) -> bool:
        return found.kind == links.DUMMY

    def dump(self, reader: Reader) -> Decode:
        def decode() -> dict[str, ObservedObject]:
            found: list[ObservedObject] = []
            for link in reader.links:
                if not (link.ours or link.name == SID_DEVICE):
                    continue
                if link.kind == links.DUMMY and link.up:
                    found.append(ObservedObject(DummyDevice(link.name), link.ours))
                elif link.kind != links.VRF and reader.below(link) is None:
                    unknown = UnknownLink(link.name, link.described)
                    found.append(ObservedObject(unknown, link.ours))
            return self.by_key(found)

        return decode
