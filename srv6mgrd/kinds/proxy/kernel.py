"""Service proxies, written and read back: ``proxy.adapter`` does so."""

from __future__ import annotations

from collections.abc import Sequence, Set
from contextlib import AbstractContextManager

from srv6mgrd.ebpf.hooks import haste
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode, Host, KernelKind, devices
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook, ProxyPrograms
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action
from srv6mgrd.proxy.adapter import Proxies


class ServiceProxies(KernelKind):
    """``proxies`` are also asked for what they count and learned."""

    kinds = (ProxyPrograms, ProxyEntry, ProxyHook)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.proxies = Proxies(host.netlink, host.programs)

    def close(self) -> None:
        self.proxies.close()

    def writing(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        return haste(sum(isinstance(action.object, ProxyHook) for action in actions))

    def write(self, batch: Batch, action: Action) -> Failure | None:
        return batch.call(lambda: self.proxies.apply(action))

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        self.proxies.forget(devices(actions))

    def dump(self, reader: Reader) -> Decode:
        found = list(self.proxies.observe(reader.links))
        return lambda: self.by_key(found)
