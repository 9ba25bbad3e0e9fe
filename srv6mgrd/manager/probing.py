"""What the node offers, tried out again where something turns out to be missing."""

from __future__ import annotations

from collections.abc import Iterable

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.manager.ports import CapabilityMonitor
from srv6mgrd.model.needs import MISSING
from srv6mgrd.model.rejection import Rejection


class Probing:
    """Keeps the reconciler's capabilities current."""

    def __init__(
        self, reconciler: Reconciler, capability_monitor: CapabilityMonitor | None
    ) -> None:
        self._reconciler = reconciler
        self._capability_monitor = capability_monitor

    def changed(self) -> bool:
        """Try out again what the node offers; whether that differs from before."""
        if self._capability_monitor is None or not self._capability_monitor.probe():
            return False
        self._reconciler.capabilities = self._capability_monitor.kernel
        return True

    def changed_after(self, rejections: Iterable[Rejection]) -> bool:
        """The same, if something was rejected without a capability: a module may have been
        loaded since, or something is gone that was there."""
        return any(rejection.tag == MISSING for rejection in rejections) and self.changed()
