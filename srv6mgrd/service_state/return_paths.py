"""The way from other edges to the locators of this router."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from srv6mgrd.model import names
from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.paths import locator_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.evidence import ReturnPath
from srv6mgrd.service_state.finding import Finding
from srv6mgrd.service_state.scope import Scope, neighbor_addresses

_SHOWN = 3


def return_paths(scope: Scope, lost: Collection[ReturnPath]) -> Iterator[Finding]:
    """Neighbors whose answers come back, but not to a locator. With all of them: no packets of
    other sites come in."""
    neighbors = neighbor_addresses(scope.desired)
    for name, locator in scope.desired.locators.items():
        cut_off = sorted(path.neighbor for path in lost if path.locator == name)
        if not cut_off:
            continue
        exporters = [
            v.name for v in scope.exporters if any(map(locator.covers, scope.sids_of(v.name)))
        ]
        whole = neighbors.issubset(cut_off)
        shown = names.some(cut_off, _SHOWN)
        yield Finding(
            ConditionType.LOCATOR_UNREACHABLE,
            locator_path(name),
            f"packets to locator {name} ({locator.prefix}) do not arrive from {shown}, which"
            " can be reached otherwise",
            f"restore the core's route to {locator.prefix}: traceroute from"
            f" {cut_off[0]} to an address of it shows where it ends",
            dict.fromkeys(exporters, ServiceState.DOWN if whole else ServiceState.DEGRADED),
            is_shared=len(exporters) == len(scope.exporters),
        )
