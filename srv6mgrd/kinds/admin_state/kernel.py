"""Administrative states of interfaces, written and read back."""

from __future__ import annotations

from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, no_interface, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject


class AdminStates(KernelKind):
    kinds = (AdminState,)

    def write(self, batch: Batch, action: Action) -> Failure | None:
        state = action.object
        if not isinstance(state, AdminState):
            return not_ours_to_write(state)
        if isinstance(action, Delete):
            return None
        if (link := batch.link(state.interface)) is None:
            return no_interface(state.interface)
        failure = batch.one(links.set_up(link.index, up=state.up))
        if failure is None and link.up != state.up:
            batch.vlans.changed(link)
        return failure

    def dump(self, reader: Reader) -> Decode:
        return lambda: self.by_key(
            [
                ObservedObject(AdminState(link.name, link.up, reader.depth(link)), ours=False)
                for link in reader.links
            ]
        )
