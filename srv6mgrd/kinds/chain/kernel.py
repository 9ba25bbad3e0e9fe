"""Service function chains, written and read back: ``chains.adapter`` does so."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import AbstractContextManager

from srv6mgrd.chains.adapter import ServiceChains
from srv6mgrd.ebpf.hooks import haste
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.chain.object import (
    ChainPrograms,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.kinds.kernel_kind import Decode, Host, KernelKind, devices
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action


class ServiceFunctionChains(KernelKind):
    """``chains`` are also asked for what they count, and go by the states of functions."""

    kinds = (ChainPrograms, ServicePath, ClassifierRules, ClassifierHook)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.chains = ServiceChains(host.netlink, host.chains)

    def close(self) -> None:
        self.chains.close()

    def writing(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        return haste(sum(isinstance(action.object, ClassifierHook) for action in actions))

    def write(self, batch: Batch, action: Action) -> Failure | None:
        return batch.call(lambda: self.chains.apply(action))

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        self.chains.forget(devices(actions))
        self.chains.settle()

    def dump(self, reader: Reader) -> Decode:
        found = list(self.chains.observe(reader.links))
        return lambda: self.by_key(found)
