"""Functions that packets of several VRFs go through. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.chains import members
from srv6mgrd.model.classification import interfaces_of
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import DEFAULT_VRF


def warnings(desired: Desired) -> Iterator[str]:
    """A proxy knows by addresses and ports alone which chain a packet comes back on: flows of two
    VRFs that are alike would be mixed up."""
    chains = desired.chains
    ports = {name: vrf.name for vrf in desired.vrfs.values() for name in vrf.interfaces}
    users: dict[str, set[str]] = {}
    for classifier in chains.classifiers.values():
        vrfs = {ports.get(name, DEFAULT_VRF) for name in interfaces_of(classifier, desired)}
        for name in {rule.chain for rule in classifier.rules if rule.chain is not None}:
            chain = chains.chains.get(name)
            for hop in chain.hops if chain is not None else ():
                for member in members(hop, chains):
                    users.setdefault(member, set()).update(vrfs)
    for name, function in chains.functions.items():
        found = sorted(users.get(name, ()))
        if function.proxied is not None and len(found) > 1:
            yield (
                f"{names.service_function(name)}: packets of VRFs {names.some(found, 3)} go through"
                " it, which knows flows by addresses and ports alone; give each VRF a function of"
                " its own where addresses overlap"
            )
