"""Interfaces in VRFs, written and read back."""

from __future__ import annotations

import errno

from srv6mgrd.kinds.batch import Batch, unless_gone
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, no_interface, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.actions import Action, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject


class VrfPorts(KernelKind):
    kinds = (VrfPort,)
    # Many in a row wait once.
    awaits_vlans = False

    def write(self, batch: Batch, action: Action) -> Failure | None:
        port = action.object
        if not isinstance(port, VrfPort):
            return not_ours_to_write(port)
        link, vrf = batch.link(port.interface), batch.link(port.vrf)
        if isinstance(action, Delete):
            if link is None or vrf is None or link.master != vrf.index:
                return None
            return unless_gone(_set_master(batch, link, 0))
        if link is None:
            return no_interface(port.interface)
        if vrf is None or vrf.kind != links.VRF:
            return Failure(errno.ENODEV, f"VRF {port.vrf} does not exist")
        if link.master == vrf.index:
            return None
        if link.master and not isinstance(action, Replace):
            return Failure(errno.EBUSY, f"interface {port.interface} has another master")
        return _set_master(batch, link, vrf.index)

    def dump(self, reader: Reader) -> Decode:
        def decode() -> dict[str, ObservedObject]:
            vrfs = {link.index: link.name for link in reader.links if link.kind == links.VRF}
            # A port has no mark: who put it there the kernel doesn't say.
            return self.by_key(
                [
                    ObservedObject(VrfPort(link.name, vrfs[link.master]), ours=False)
                    for link in reader.links
                    if link.master in vrfs
                ]
            )

        return decode


def _set_master(batch: Batch, link: Link, master: int) -> Failure | None:
    failure = batch.one(links.set_master(link.index, master))
    if failure is None and link.up:  # cycle_netdev
        batch.vlans.changed(link)
    return failure
