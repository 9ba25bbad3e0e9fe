"""What classifiers look at: where packets come in, and which. Pure."""

from __future__ import annotations

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import Classifier, ClassifierRule
from srv6mgrd.model.desired import Desired


def interfaces_of(classifier: Classifier, desired: Desired) -> tuple[str, ...]:
    """Where packets come in."""
    vrf = desired.vrfs.get(classifier.vrf) if classifier.vrf is not None else None
    return vrf.interfaces if vrf is not None else classifier.interfaces


def families_of(rule: ClassifierRule) -> tuple[Family, ...]:
    """What a rule can match; none where its prefixes contradict its inner type."""
    version = next((n.version for n in (rule.source, rule.destination) if n is not None), None)
    match version:
        case 4:
            by_prefix: tuple[Family, ...] = (Family.IPV4,)
        case 6:
            by_prefix = (Family.IPV6,)
        case _:
            by_prefix = (Family.IPV4, Family.IPV6)
    if rule.family is None:
        return by_prefix
    if rule.family is Family.ETHERNET and version is None:
        return (Family.ETHERNET,)
    return (rule.family,) if rule.family in by_prefix else ()
