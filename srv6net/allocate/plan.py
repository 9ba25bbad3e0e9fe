"""Which numbers the services need, and from which pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6net.allocate.pool import Numbers, Pool, allocate, nearly_full
from srv6net.intent.inventory import Inventory, Router
from srv6net.intent.service import Service, Topology

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
    return f"function/{router.name}/{router.locator.text}"


def tables_of(router: str) -> str:
    return f"table/{router}"


def distinguishers_of(router: str) -> str:
    return f"rd/{router}"


Owners = AbstractSet[str]
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
    wanted = _owners_of(services, inventory)
    return _allocated(
        lambda pool, _: wanted.get(pool, set()),
        chosen_in=services,
        inventory=inventory,
        before=before,
        now=now,
        quarantine=quarantine,
    )


def plan_change(
    gone: Sequence[Service],
    made: Sequence[Service],
    *,
    chosen_in: Sequence[Service],
    inventory: Inventory,
    before: Allocations,
    now: float,
    quarantine: float = QUARANTINE_S,
) -> Allocated:
    """As ``plan`` for all services, where ``before`` is of the same inventory, and only those of
    ``gone`` became those of ``made``. ``chosen_in``: all in which operators chose numbers."""
    left, come = _owners_of(gone, inventory), _owners_of(made, inventory)

    def owners(pool: str, numbers: Numbers) -> Owners | None:
        less, more = left.get(pool, set()), come.get(pool, set())
        return None if less == more else (numbers.taken.keys() - less) | more

    return _allocated(
        owners,
        chosen_in=chosen_in,
        inventory=inventory,
        before=before,
        now=now,
        quarantine=quarantine,
    )


def _allocated(
    owners: Callable[[str, Numbers], Owners | None],
    *,
    chosen_in: Sequence[Service],
    inventory: Inventory,
    before: Allocations,
    now: float,
    quarantine: float,
) -> Allocated:
    """``owners`` of a pool: None where they are the same as before."""
    pools = dict(before.pools)
    rejections: list[Rejection] = []
    warnings: list[str] = []

    def take(pool: Pool, reserved: frozenset[int] = frozenset()) -> None:
        numbers = pools.get(pool.name, Numbers())
        wanted = owners(pool.name, numbers)
        if wanted is None and not _is_expired(numbers, now):
            warning = nearly_full(pool, numbers)
        else:
            names = numbers.taken.keys() if wanted is None else wanted
            outcome = allocate(pool, numbers, names, now, quarantine, reserved=reserved)
            numbers = pools[pool.name] = outcome.numbers
            rejections.extend([outcome.rejection] if outcome.rejection else [])
            warning = outcome.warning
        rejections.extend(_chosen_twice(pool, numbers, reserved))
        warnings.extend([warning] if warning else [])

    chosen = _chosen_distinguishers(chosen_in)
    for router in inventory.routers.values():
        take(_functions(router))
        take(_tables(router.name))
        take(_distinguishers(router.name), chosen.get(str(router.router_id), frozenset()))
    known = _pools_of(inventory)
    for name in before.pools:
        if name.count("/") and name not in known:
            # A router that left, or a locator that was replaced: the numbers are given back.
            take(_departed(name))
    take(_targets(inventory), _chosen_targets(chosen_in, inventory))
    take(_names())
    if rejections:
        raise RejectedError(rejections)
    return Allocated(Allocations(pools), tuple(warnings))


def _is_expired(numbers: Numbers, now: float) -> bool:
    """Whether a quarantine has ended."""
    return any(one.until <= now for one in numbers.released.values())


def _owners_of(services: Iterable[Service], inventory: Inventory) -> dict[str, set[str]]:
    """Who needs a number, by the name of the pool."""
    found: dict[str, set[str]] = {}

    def need(pool: str, *owners: str) -> None:
        found.setdefault(pool, set()).update(owners)

    for service in services:
        need(NAMES, service.id)
        # A service whose nodes all have targets that the operator chose needs none.
        if not all(node.targets for node in service.nodes):
            need(TARGETS, *(target_owner(service.id, kind) for kind in _KINDS[service.topology]))
        for node in service.nodes:
            if (router := inventory.routers.get(node.router)) is None:
                continue
            need(functions_of(router), service.id)
            need(tables_of(router.name), service.id)
            if not node.rd:
                need(distinguishers_of(router.name), service.id)
    return found


def _chosen_twice(pool: Pool, numbers: Numbers, chosen: frozenset[int]) -> list[Rejection]:
    """Numbers that an operator chose after they were handed out."""
    if not chosen:
        return []
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
