"""Accounting, written and read back: ``accounting.adapter`` does so."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import AbstractContextManager

from srv6mgrd.accounting.adapter import Accounting
from srv6mgrd.ebpf.hooks import haste
from srv6mgrd.kinds.accounting.object import (
    AccountedPort,
    AccountedSid,
    AccountedVrf,
    AccountingHook,
    AccountingPrograms,
    AccountingSources,
)
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode, Host, KernelKind, devices
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action


class TrafficAccounting(KernelKind):
    """``accounting`` is also asked for its counters."""

    kinds = (
        AccountingPrograms,
        AccountingSources,
        AccountedVrf,
        AccountedPort,
        AccountedSid,
        AccountingHook,
    )

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.accounting = Accounting(host.netlink, host.accounting)

    def close(self) -> None:
        self.accounting.close()

    def writing(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        return haste(sum(isinstance(action.object, AccountingHook) for action in actions))

    def write(self, batch: Batch, action: Action) -> Failure | None:
        return batch.call(lambda: self.accounting.apply(action))

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        self.accounting.forget(devices(actions))

    def dump(self, reader: Reader) -> Decode:
        found = list(self.accounting.observe(reader.links))
        return lambda: self.by_key(found)
