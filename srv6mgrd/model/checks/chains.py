"""Service function chains: places of functions, what chains carry, what classifiers catch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from srv6mgrd.model import names
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import Chain, Classifier, ClassifierRule, ServiceFunction, Way, members
from srv6mgrd.model.checks import proxies
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.classification import families_of, interfaces_of
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.expand import is_made, made_prefix
from srv6mgrd.model.function_sids import PLACES, sids_of, with_functions
from srv6mgrd.model.paths import (
    chain_path,
    classifier_path,
    service_function_path,
    sid_path,
)
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.service_paths import MOST_PATHS, ServicePaths
from srv6mgrd.model.tuple_space import MOST_COMBINATIONS, combinations


def check(desired: Desired) -> Iterator[Rejection]:
    chains = desired.chains
    if not (chains.functions or chains.chains or chains.classifiers or chains.groups):
        return
    found = list(_functions(desired))
    yield from found
    if found:
        return  # what they are is not certain
    paths = ServicePaths(with_functions(desired))
    for chain in chains.chains.values():
        yield from _chain(chain, desired, paths)
    yield from _classifiers(desired, paths)


# Functions.


def _functions(desired: Desired) -> Iterator[Rejection]:
    for function in desired.chains.functions.values():
        yield from _places(function, desired)
        if function.proxied is None and not function.segments:
            yield _of_function(
                function.name,
                "it is nowhere",
                "add proxy where this router has it, or function-sid where it has SIDs of its own",
                "function-place-missing",
            )
    yield from _collisions(desired)
    yield from _proxies(desired)


def _places(function: ServiceFunction, desired: Desired) -> Iterator[Rejection]:
    if (proxied := function.proxied) is None:
        return
    locator = desired.locators[proxied.locator]
    last = proxied.sid_function + PLACES - 1
    if last >= 1 << locator.function_length:
        yield _of_function(
            function.name,
            f"SIDs with functions {proxied.sid_function} to {last} do not fit into the"
            f" {locator.function_length} bits of locator {locator.name}",
            "choose a smaller sid-function",
            "function-sid-large",
        )
    if proxied.interface != proxied.return_interface and not any(
        family is Family.ETHERNET for family in proxied.families
    ):
        for family in proxied.families:
            if family not in proxied.reverse_next_hops:
                yield _of_function(
                    function.name,
                    f"{family} packets in the reverse direction have no next hop on"
                    f" {proxied.return_interface}",
                    f"add return-{family}-next-hop",
                    "function-return-next-hop-missing",
                )


def _collisions(desired: Desired) -> Iterator[Rejection]:
    owners = {sid.prefix: names.sid(sid.prefix) for sid in desired.sids.values()}
    for vrf in desired.vrfs.values():
        if vrf.bgp is not None and is_made(vrf.bgp) and vrf.bgp.locator in desired.locators:
            prefix = made_prefix(desired, vrf)
            if prefix is not None:
                owners[prefix] = f"the SID of {names.vrf(vrf.name)}"
    for function in sorted(desired.chains.functions.values(), key=lambda f: f.name):
        made = [sid.prefix for _, sid in sids_of(function, desired.locators)]
        for prefix in made:
            owner = owners.setdefault(prefix, names.service_function(function.name))
            if owner != names.service_function(function.name):
                yield _of_function(
                    function.name,
                    f"its SID {prefix} is {owner} already",
                    f"choose a sid-function that leaves {PLACES} functions free",
                    "function-sid-in-use",
                )


def _proxies(desired: Desired) -> Iterator[Rejection]:
    """What is wrong with proxies, said of the functions that they are made for."""
    makers = {
        sid_path(sid.prefix): function.name
        for function in desired.chains.functions.values()
        for _, sid in sids_of(function, desired.locators)
    }
    before = {str(rejection) for rejection in proxies.check(desired)}
    said = set()
    for rejection in proxies.check(with_functions(desired)):
        if str(rejection) in before:
            continue
        maker = makers.get(rejection.path)
        if maker is None:
            yield rejection
        elif (said_of := (maker, rejection.tag)) not in said:
            said.add(said_of)
            yield replace(
                rejection, object=names.service_function(maker), path=service_function_path(maker)
            )


# Chains.


def _chain(chain: Chain, desired: Desired, paths: ServicePaths) -> Iterator[Rejection]:
    yield from _twice(chain, desired)
    if _is_circle(chain, desired):
        yield _of_chain(
            chain.name,
            f"its fallback-chain {chain.fallback} leads back to it",
            "let the last one drop or bypass",
            "chain-fallback-circle",
        )
        return
    if desired.encapsulation_source is None:
        yield _of_chain(
            chain.name,
            "packets that it encapsulates have no source",
            "add encapsulation/source-address",
            "chain-source-missing",
        )
    for way, egress in chain.egresses.items():
        if egress.vrf is None and not egress.segments:
            yield _of_chain(
                chain.name,
                f"packets go nowhere behind its last function ({way})",
                f"add {way} with vrf or segment",
                "chain-egress-missing",
            )
            continue
        families = paths.families(chain, way)
        if egress.vrf is not None and not any(paths.behind(egress, family) for family in Family):
            yield _of_chain(
                chain.name,
                f"no local SID decapsulates into VRF {egress.vrf} ({way})",
                f"declare one with behavior End.DT46 and vrf {egress.vrf}",
                "chain-egress-sid-missing",
            )
        elif not families:
            yield _of_chain(
                chain.name,
                f"its functions have no inner type in common ({way})",
                "see inner-type and direction of each",
                "chain-inner-type",
            )
        yield from _sizes(chain, way, families, paths)


def _sizes(
    chain: Chain, way: Way, families: list[Family], paths: ServicePaths
) -> Iterator[Rejection]:
    for family in families:
        if (count := paths.count(chain, family, way)) > MOST_PATHS:
            yield _of_chain(
                chain.name,
                f"it has {count} paths for {family} ({way}); {MOST_PATHS} are possible",
                "make groups smaller, or set on-failure to drop",
                "chain-paths-many",
            )
            return


def _twice(chain: Chain, desired: Desired) -> Iterator[Rejection]:
    """A proxy knows by its flow alone what chain a packet comes back on; the second time it would
    learn another one."""
    seen = set()
    for hop in chain.hops:
        for name in members(hop, desired.chains):
            function = desired.chains.functions[name]
            if name in seen and function.proxied is not None:
                yield _of_chain(
                    chain.name,
                    f"service function {name} is in it twice",
                    "let packets go through a proxy once",
                    "chain-function-twice",
                )
            seen.add(name)


def _is_circle(chain: Chain, desired: Desired) -> bool:
    seen = set()
    name: str | None = chain.name
    while name is not None and name not in seen:
        seen.add(name)
        name = desired.chains.chains[name].fallback
    return name is not None


# Classifiers.


def _classifiers(desired: Desired, paths: ServicePaths) -> Iterator[Rejection]:
    users: dict[str, str] = {}
    behind = {
        name: function.name
        for function in desired.chains.functions.values()
        if (proxied := function.proxied) is not None
        for name in (proxied.interface, proxied.return_interface)
    }
    for sid in desired.sids.values():
        if sid.proxy is not None:
            for name in (sid.proxy.interface, sid.proxy.return_interface):
                behind.setdefault(name, f"of SID {sid.prefix}")
    for classifier in sorted(desired.chains.classifiers.values(), key=lambda c: c.name):
        interfaces = interfaces_of(classifier, desired)
        if classifier.vrf is None and not interfaces:
            yield _of_classifier(
                classifier.name, "it is nowhere", "add interface or vrf", "classifier-place-missing"
            )
        for name in interfaces:
            yield from _place(classifier, name, desired, behind)
            if (first := users.setdefault(name, classifier.name)) != classifier.name:
                yield _of_classifier(
                    classifier.name,
                    f"packets from {name} are those of classifier {first} already",
                    "put the rules into one classifier",
                    "classifier-interface-in-use",
                )
        for rule in classifier.rules:
            yield from _rule(classifier, rule, desired, paths)
        if (found := combinations(classifier.rules)) > MOST_COMBINATIONS:
            yield _of_classifier(
                classifier.name,
                f"its rules have {found} combinations of prefix lengths, ports and other criteria;"
                f" {MOST_COMBINATIONS} are possible",
                "use fewer lengths of prefixes, or several classifiers",
                "classifier-criteria-many",
            )


def _place(
    classifier: Classifier, interface: str, desired: Desired, behind: dict[str, str]
) -> Iterator[Rejection]:
    if interface in behind:
        yield _of_classifier(
            classifier.name,
            f"what comes back from service function {behind[interface]} by {interface} is on its"
            " chain already",
            "name interfaces of customers",
            "classifier-function-interface",
        )
    elif why := taken(desired, interface):
        yield _of_classifier(
            classifier.name,
            f"interface {interface} {why}",
            "name interfaces of customers",
            "classifier-interface",
        )


def _rule(
    classifier: Classifier, rule: ClassifierRule, desired: Desired, paths: ServicePaths
) -> Iterator[Rejection]:
    where = f"rule {rule.priority}"
    for ports in (rule.source_ports, rule.destination_ports):
        if ports is not None and not ports[0] <= ports[1] < 1 << 16:
            yield _of_rule(
                classifier,
                rule,
                f"{where}: {ports[0]}-{ports[1]} is no range of ports",
                "write the lower one first, 0 to 65535",
                "classifier-port-range",
            )
    families = families_of(rule)
    given = rule.family
    if given is not None and given not in families:
        yield _of_rule(
            classifier,
            rule,
            f"{where}: its prefixes are not {given}",
            "correct inner-type or the prefixes",
            "classifier-inner-type",
        )
        return
    if given is Family.ETHERNET and (
        rule.protocol is not None or rule.source is not None or rule.dscp is not None
    ):
        yield _of_rule(
            classifier,
            rule,
            f"{where}: frames are taken whatever is in them",
            "remove what matches packets, or set inner-type to ipv4 or ipv6",
            "classifier-ethernet",
        )
        return
    if rule.chain is None:
        return
    chain = desired.chains.chains[rule.chain]
    if rule.way not in chain.egresses:
        yield _of_rule(
            classifier,
            rule,
            f"{where}: chain {chain.name} cannot be gone in the reverse direction",
            f"add reverse to chain {chain.name}",
            "classifier-direction",
        )
        return
    carried = paths.families(chain, rule.way)
    if carried and (lost := [family for family in families if family not in carried]):
        yield _of_rule(
            classifier,
            rule,
            f"{where}: chain {chain.name} carries {_listed(carried)} only, not {_listed(lost)}",
            f"set inner-type to {carried[0]}",
            "classifier-inner-type",
        )


def _listed(families: list[Family]) -> str:
    return " and ".join(families)


def _of_function(name: str, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.service_function(name), cause, remedy, tag, service_function_path(name))


def _of_chain(name: str, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.chain(name), cause, remedy, tag, chain_path(name))


def _of_classifier(name: str, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.classifier(name), cause, remedy, tag, classifier_path(name))


def _of_rule(
    classifier: Classifier, rule: ClassifierRule, cause: str, remedy: str, tag: str
) -> Rejection:
    rejection = _of_classifier(classifier.name, cause, remedy, tag)
    return replace(rejection, path=f"{rejection.path}/rule[priority='{rule.priority}']")
