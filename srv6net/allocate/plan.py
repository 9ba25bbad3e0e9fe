"""Which numbers the services need, and from which pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6net.allocate.pool import Numbers, Pool, allocate
from srv6net.intent.inventory import Inventory, Router
from srv6net.intent.service import Node, Service, Topology

# A number that was given back goes to another service after a day. Until then routes with it may
# be stale on other routers (RFC 4724, RFC 9494).
QUARANTINE_S = 86_400.0
# Apart from the tables that operators number by hand, and from 8986 and 898646 of srv6mgrd.
TABLES = (1_000_000, 1_065_534)
ANY, HUB, SPOKE = "any", "hub", "spoke"
# The kinds of route targets of a topology: one for all, or one for each role.
_KINDS = {Topology.ANY_TO_ANY: (ANY,), Topology.HUB_SPOKE: (HUB, SPOKE)}


@dataclass(frozen=True, slots=True)
class Allocations:
    """The state of every pool by its name."""

    pools: Mapping[str, Numbers] = field(default_factory=dict)

    def number(self, pool: str, owner: str) -> int:
        return self.pools[pool].taken[owner]


@dataclass(frozen=True, slots=True)
class Allocated:
    """``warnings``: pools that are nearly full."""

    allocations: Allocations
    warnings: tuple[str, ...] = ()


def functions_of(router: Router) -> str:
    """Name of the pool. A renumbered locator is another pool: its SIDs are new ones anyway."""
    return f"function/{router.name}/{router.locator.prefix}"


def tables_of(router: str) -> str:
    return f"table/{router}"


def distinguishers_of(router: str) -> str:
    return f"rd/{router}"


TARGETS = "route-target"
NAMES = "vrf-name"


def target_owner(service: str, kind: str) -> str:
    return f"{service}/{kind}"


def plan(
    services: Sequence[Service],
    inventory: Inventory,
    before: Allocations,
    now: float,
    quarantine: float = QUARANTINE_S,
) -> Allocated:
    """Numbers for the services. Raises RejectedError with every pool that has too few."""
    nodes: dict[str, list[tuple[Service, Node]]] = {}
    for service in services:
        for node in service.nodes:
            nodes.setdefault(node.router, []).append((service, node))
    pools = dict(before.pools)
    rejections: list[Rejection] = []
    warnings: list[str] = []

    def take(pool: Pool, owners: Iterable[str], reserved: frozenset[int] = frozenset()) -> None:
        numbers = pools.get(pool.name, Numbers())
        outcome = allocate(pool, numbers, owners, now, quarantine, reserved=reserved)
        pools[pool.name] = outcome.numbers
        rejections.extend([outcome.rejection] if outcome.rejection else [])
        rejections.extend(_chosen_twice(pool, outcome.numbers, reserved))
        warnings.extend([outcome.warning] if outcome.warning else [])

    chosen = _chosen_distinguishers(services)
    for router in inventory.routers.values():
        owners = [service.id for service, _ in nodes.get(router.name, ())]
        take(_functions(router), owners)
        take(_tables(router.name), owners)
        numbered = [service.id for service, node in nodes.get(router.name, ()) if not node.rd]
        take(_distinguishers(router.name), numbered, chosen.get(str(router.router_id), frozenset()))
    known = _pools_of(inventory)
    for name in before.pools:
        if name.count("/") and name not in known:
            # A router that left, or a locator that was replaced: the numbers are given back.
            take(_departed(name), ())
    take(_targets(inventory), _target_owners(services), _chosen_targets(services, inventory))
    take(_names(), [s.id for s in services])
    if rejections:
        raise RejectedError(rejections)
    return Allocated(Allocations(pools), tuple(warnings))


def _chosen_twice(pool: Pool, numbers: Numbers, chosen: frozenset[int]) -> list[Rejection]:
    """Numbers that an operator chose after they were handed out."""
    return [
        Rejection(
            pool.object,
            f"number {number} is chosen in the intent and was handed out to {owner} before",
            "choose another number",
            "chosen-twice",
        )
        for owner, number in numbers.taken.items()
        if number in chosen
    ]


def _pools_of(inventory: Inventory) -> frozenset[str]:
    return frozenset(
        name
        for router in inventory.routers.values()
        for name in (functions_of(router), tables_of(router.name), distinguishers_of(router.name))
    )


def _functions(router: Router) -> Pool:
    length = router.locator.function_length
    # The lowest sixteenth is left to the operator and to FRR, which counts its own from 1 on.
    first = max(1, 1 << max(0, length - 4))
    return Pool(
        functions_of(router),
        first,
        (1 << length) - 1,
        f"locator {router.locator.name} of router {router.name}",
        "give it a longer function-length, or wait for the end of the quarantine",
    )


def _tables(router: str) -> Pool:
    return Pool(tables_of(router), *TABLES, f"tables of router {router}", "remove services there")


def _distinguishers(router: str) -> Pool:
    # Type 1 of RFC 4364 section 4.2: the router id and a number of two bytes.
    name = distinguishers_of(router)
    return Pool(name, 1, 65_535, f"route distinguishers of router {router}", "remove services")


def _departed(name: str) -> Pool:
    return Pool(name, 1, 0, name, "")


def _targets(inventory: Inventory) -> Pool:
    return Pool(
        TARGETS,
        inventory.first_target,
        inventory.last_target,
        "route targets of the network",
        "widen route-targets in the inventory",
    )


def _names() -> Pool:
    return Pool(NAMES, 1, 9_999_999, "names of VRFs", "remove services")


def _target_owners(services: Iterable[Service]) -> list[str]:
    """A service whose nodes all have targets that the operator chose needs none."""
    return [
        target_owner(service.id, kind)
        for service in services
        if not all(node.targets for node in service.nodes)
        for kind in _KINDS[service.topology]
    ]


def _chosen_targets(services: Iterable[Service], inventory: Inventory) -> frozenset[int]:
    """Numbers of the network's AS that operators chose; srv6net must not hand them out, too."""
    chosen = (
        target
        for service in services
        for node in service.nodes
        for target in node.targets.imported | node.targets.exported
    )
    return _numbers_of(str(inventory.as_number), chosen)


def _chosen_distinguishers(services: Iterable[Service]) -> dict[str, frozenset[int]]:
    """Numbers that operators chose, by the router id before them. One on another router may have
    the id of this one."""
    found: dict[str, set[int]] = {}
    for service in services:
        for node in service.nodes:
            if node.rd:
                administrator, _, number = node.rd.rpartition(":")
                found.setdefault(administrator, set()).add(int(number))
    return {administrator: frozenset(numbers) for administrator, numbers in found.items()}


def _numbers_of(administrator: str, values: Iterable[str]) -> frozenset[int]:
    pairs = (value.rpartition(":") for value in values)
    return frozenset(int(number) for head, _, number in pairs if head == administrator)
