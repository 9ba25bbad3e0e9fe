"""Rules of classifiers in their maps: as they were read and since written."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import ClassifierValue, Node, RuleKey, SelectorKey
from srv6mgrd.chains.names import Named, NameTable
from srv6mgrd.chains.path_table import PathTable, counts_of
from srv6mgrd.chains.programs import Maps
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.chain.object import ClassifierRules
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import Traffic
from srv6mgrd.model.chains import ClassifierRule
from srv6mgrd.model.tuple_space import MOST_COMBINATIONS, Combination, Kind, tuple_space
from srv6mgrd.netlink.errors import Failure

# Records of rules, decoded: ten thousand are read in each observation.
Decoded = dict[tuple[int, int, bytes], ClassifierRule]


@dataclass(slots=True)
class _Classifier:
    """``records`` by priority. ``keys`` of its entries; None when they were not written here."""

    value: ClassifierValue
    records: dict[int, bytes]
    keys: list[bytes] | None = None


class RuleTable:
    """``decoded`` outlives the table."""

    def __init__(self, maps: Maps, names: NameTable, decoded: Decoded) -> None:
        self._maps = maps
        self._names = names
        self._decoded = decoded
        self._classifiers = {
            layout.number_of(key): _Classifier(ClassifierValue.unpack(value), {})
            for key, value in maps.classifiers.items(layout.NUMBER_SIZE)
        }
        # Of a process that died while it wrote.
        self._stray: list[bytes] = []
        for raw, record in maps.rules.items(layout.RULE_KEY_SIZE):
            key = RuleKey.unpack(raw)
            found = self._classifiers.get(key.classifier)
            if found is not None and found.value.generation == key.generation:
                found.records[key.priority] = record
            else:
                self._stray.append(raw)
        taken = {
            layout.place_of_rule(r) for c in self._classifiers.values() for r in c.records.values()
        }
        self._free = [n for n in range(layout.MAX_RULES - 1, -1, -1) if n not in taken]

    # Reading.

    def rules(self) -> Iterator[ClassifierRules]:
        if len(self._decoded) > 2 * sum(len(one.records) for one in self._classifiers.values()):
            # Most of them are of rules that are gone.
            self._decoded.clear()
        for number, found in self._classifiers.items():
            rules = [self._rule(p, record) for p, record in sorted(found.records.items())]
            yield ClassifierRules(self._names.of(number), tuple(rules))

    def _rule(self, priority: int, record: bytes) -> ClassifierRule:
        chain = layout.chain_of_rule(record)
        key = (priority, chain, record)
        name = self._names.of(chain) if chain else None
        known = self._decoded.get(key)
        if known is None or known.chain != name:
            known = self._decoded[key] = layout.rule_of(record, priority, name)
        return known

    def counts(self) -> dict[tuple[str, int], Traffic]:
        """By classifier and priority."""
        places = {
            (self._names.of(number), priority): layout.place_of_rule(record)
            for number, found in self._classifiers.items()
            for priority, record in found.records.items()
        }
        counted = counts_of(self._maps.rule_counts, max(places.values(), default=0))
        return {key: layout.traffic_of(counted[place]) for key, place in places.items()}

    @property
    def chains(self) -> set[int]:
        """Numbers of the chains that rules name."""
        return {
            layout.chain_of_rule(record)
            for found in self._classifiers.values()
            for record in found.records.values()
        } - {0}

    # Writing.

    def put(self, wanted: ClassifierRules, paths: PathTable) -> Failure | None:
        """Exchange the rules of a classifier: the new ones are written beside those that are there,
        and then take effect all at once."""
        self._drop_stray()
        space = tuple_space(wanted.rules)
        for kind, found in space.items():
            if len(found) > MOST_COMBINATIONS:
                return Failure(
                    errno.E2BIG,
                    f"rules for {kind.name} packets have {len(found)} combinations of prefix"
                    f" lengths, ports and other criteria; {MOST_COMBINATIONS} are possible",
                )
        try:
            number = self._names.need(Named.CLASSIFIER, wanted.name)
            chains = {
                rule.chain: self._names.need(Named.CHAIN, rule.chain)
                for rule in wanted.rules
                if rule.chain is not None
            }
            before = self._classifiers.get(number)
            places = self._places(wanted.rules, before)
            first = self._room(sum(map(len, space.values())))
            made = _Classifier(
                ClassifierValue(
                    self._next_generation(),
                    any(rule.mark is not None for rule in wanted.rules),
                    any(rule.dscp is not None for rule in wanted.rules),
                    tuple(_ranges(space, first)),
                ),
                {
                    rule.priority: layout.rule(
                        rule, chains[rule.chain] if rule.chain is not None else 0,
                        places[rule.priority],
                    )
                    for rule in wanted.rules
                },
                [],
            )  # fmt: skip
            failure = self._write(number, made, space, paths)
        except ValueError as error:
            return Failure(errno.ENOSPC, str(error))
        if failure := failure or self._maps.classifiers.put(
            layout.number(number), made.value.pack()
        ):
            self._drop(number, made)
            return failure
        self._classifiers[number] = made
        taken = set(places.values())
        self._free = [place for place in self._free if place not in taken]
        if before is not None:
            self._drop(number, before)
            left = {layout.place_of_rule(record) for record in before.records.values()}
            self._free += left - taken
        return None

    def _places(
        self, rules: Sequence[ClassifierRule], before: _Classifier | None
    ) -> dict[int, int]:
        """Where each rule counts, by priority: one that had the same goes on."""
        known = before.records if before is not None else {}
        free = iter(reversed(self._free))
        zero = bytes(layout.COUNT_SIZE * libbpf.possible_cpus())
        found = {}
        for rule in rules:
            if (record := known.get(rule.priority)) is not None:
                found[rule.priority] = layout.place_of_rule(record)
                continue
            place = next(free, None)
            if place is None:
                raise ValueError(f"there are {layout.MAX_RULES} rules already")
            self._maps.rule_counts.put(layout.number(place), zero)
            found[rule.priority] = place
        return found

    def _room(self, size: int) -> int:
        """The first of so many places for combinations, one after the other. Raises ValueError when
        there is no such room."""
        used = sorted(p for c in self._classifiers.values() for p in c.value.tuples if p[1])
        first = 0
        for place, count in used:
            if place - first >= size:
                break
            first = max(first, place + count)
        if first + size > layout.MAX_TUPLES:
            raise ValueError(f"no room for {size} combinations of criteria more")
        return first

    def _next_generation(self) -> int:
        node = Node.unpack(self._maps.nodes.get(layout.FIRST) or bytes(layout.NODE_SIZE))
        following = node._replace(generation=(node.generation + 1) & 0xFFFFFFFF or 1)
        if failure := self._maps.nodes.put(layout.FIRST, following.pack()):
            raise ValueError(failure.message)
        return following.generation

    def _write(
        self,
        number: int,
        made: _Classifier,
        space: Mapping[Kind, Sequence[Combination]],
        paths: PathTable,
    ) -> Failure | None:
        """All of it but what makes it take effect."""
        generation = made.value.generation
        for priority, record in made.records.items():
            key = RuleKey(number, generation, priority).pack()
            if failure := self._maps.rules.put(key, record):
                return failure
        keys = made.keys = []
        # In place of priorities, the largest of which the program takes for none.
        ranks = {priority: rank for rank, priority in enumerate(sorted(made.records))}
        for kind, (first, _) in zip(space, made.value.tuples, strict=True):
            for place, combination in enumerate(space[kind], first):
                masks = layout.combination(kind, combination.masks, ranks[combination.best])
                if failure := self._maps.tuples.put(layout.number(place), masks):
                    return failure
                for values, rule in combination.rules.items():
                    record = made.records[rule.priority]
                    selector = 0
                    if chain := layout.chain_of_rule(record):
                        wanted = SelectorKey(chain, rule.way, _family(kind, rule))
                        selector = paths.selector(wanted)
                    place_of_count = layout.place_of_rule(record)
                    value = layout.entry(rule, ranks[rule.priority], place_of_count, selector)
                    key = layout.entry_key(values, generation, place)
                    if failure := self._maps.entries.put(key, value):
                        return failure
                    keys.append(key)
        return None

    def take(self, name: str) -> None:
        number = self._names.number(Named.CLASSIFIER, name)
        if number is None or (found := self._classifiers.pop(number, None)) is None:
            return
        self._maps.classifiers.delete(layout.number(number))
        self._drop(number, found)
        self._free += [layout.place_of_rule(record) for record in found.records.values()]
        self._names.keep(Named.CLASSIFIER, set(self._classifiers))

    def _drop(self, number: int, classifier: _Classifier) -> None:
        """What no packet is looked up in any more."""
        generation = classifier.value.generation
        keys = classifier.keys
        if keys is None:
            keys = [
                key
                for key, _ in self._maps.entries.items(layout.ENTRY_KEY_SIZE)
                if layout.generation_of_entry(key) == generation
            ]
        for key in keys:
            self._maps.entries.delete(key)
        for priority in classifier.records:
            self._maps.rules.delete(RuleKey(number, generation, priority).pack())

    def _drop_stray(self) -> None:
        if not self._stray:
            return
        for key in self._stray:
            self._maps.rules.delete(key)
        self._stray = []
        known = {found.value.generation for found in self._classifiers.values()}
        for key in [key for key, _ in self._maps.entries.items(layout.ENTRY_KEY_SIZE)]:
            if layout.generation_of_entry(key) not in known:
                self._maps.entries.delete(key)


def _ranges(space: Mapping[Kind, Sequence[Combination]], first: int) -> Iterator[tuple[int, int]]:
    """Place of the first combination of each kind, and how many."""
    for found in space.values():
        yield first, len(found)
        first += len(found)


def _family(kind: Kind, rule: ClassifierRule) -> Family:
    """Of the path that a packet takes."""
    if rule.family is Family.ETHERNET:
        return Family.ETHERNET
    return Family.IPV4 if kind in (Kind.IPV4, Kind.LOCAL4) else Family.IPV6
