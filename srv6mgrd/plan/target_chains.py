"""Objects of service function chains beside the SIDs of their functions. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.kinds.chain.object import (
    ChainPrograms,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.model import names
from srv6mgrd.model.chains import members
from srv6mgrd.model.classification import interfaces_of
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.function_sids import sids_of
from srv6mgrd.model.references import (
    chain_ref,
    classifier_ref,
    function_group_ref,
    function_ref,
)
from srv6mgrd.model.service_paths import ServicePaths
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.target_objects import FORWARD_IPV4, FORWARD_IPV6, Target


def need_chains(t: Target, desired: Desired, interfaces: Mapping[str, int]) -> None:
    """Once all SIDs are among the objects."""
    chains = desired.chains
    if not (chains.functions or chains.chains or chains.classifiers):
        return
    _functions(t, desired)
    _chains(t, desired)
    _classifiers(t, desired, interfaces)
    refs = [chain_ref(name) for name in chains.chains]
    refs += [classifier_ref(name) for name in chains.classifiers]
    if refs:
        t.need(ChainPrograms(), *refs)
        t.need(FORWARD_IPV4, *refs)
        t.need(FORWARD_IPV6, *refs)


def _functions(t: Target, desired: Desired) -> None:
    """What is for a SID is for the function that it was made for."""
    makers = {
        ObjectRef(Kind.SID, str(sid.prefix)): function_ref(name)
        for name, function in desired.chains.functions.items()
        for _, sid in sids_of(function, desired.locators)
    }
    for key in list(t.serves):
        found = dict.fromkeys(makers[ref] for ref in t.refs(key) if ref in makers)
        if found:
            t.serves[key] = [*t.serves[key], *found]
    for sid, function in makers.items():
        if (why := t.pending.get(sid)) is not None:
            t.pending.setdefault(function, why)
    for name, group in desired.chains.groups.items():
        _wait(t, function_group_ref(name), [function_ref(one) for one in group.functions])


def _chains(t: Target, desired: Desired) -> None:
    source = desired.encapsulation_source
    if source is None:
        return
    paths = ServicePaths(desired)
    for name, chain in desired.chains.chains.items():
        ref = chain_ref(name)
        for way in chain.egresses:
            for family in paths.families(chain, way):
                for path in paths.paths(chain, family, way):
                    obj = ServicePath(
                        name,
                        way,
                        family,
                        path.functions,
                        path.segments,
                        source,
                        path.preference,
                        path.weight,
                    )
                    t.need(obj, ref)
        functions = [one for hop in chain.hops for one in members(hop, desired.chains)]
        _wait(t, ref, [function_ref(one) for one in functions])


def _classifiers(t: Target, desired: Desired, interfaces: Mapping[str, int]) -> None:
    for name, classifier in desired.chains.classifiers.items():
        ref = classifier_ref(name)
        t.need(ClassifierRules(name, classifier.rules), ref)
        places = interfaces_of(classifier, desired)
        missing = [one for one in places if one not in interfaces]
        for interface in places:
            if interface not in missing:
                t.need(ClassifierHook(interface, name), ref)
        if missing:
            t.pending[ref] = f"interface {', '.join(missing)} does not exist yet"


def _wait(t: Target, ref: ObjectRef, needed: list[ObjectRef]) -> None:
    """It is not in place before these are."""
    for one in needed:
        if (why := t.pending.get(one)) is not None:
            t.pending.setdefault(ref, f"{names.of_ref(one)}: {why}")
            return
