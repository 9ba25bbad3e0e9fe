"""Whether the underlay has room for the outer headers of chains. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srv6mgrd.model import names
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.classification import interfaces_of
from srv6mgrd.model.desired import Desired, Role
from srv6mgrd.model.service_paths import ServicePaths

# IPv6 header, segment routing header without segments, a segment; of frames their own header, too.
_IPV6, _SRH, _SEGMENT, _ETHERNET = 40, 8, 16, 14


def warnings(desired: Desired, mtus: Mapping[str, int]) -> Iterator[str]:
    """For each classifier and chain the core interface that is too narrow for what comes in, by the
    MTUs of the interfaces that exist. Takes the expanded state."""
    core = {name for name, role in desired.roles.items() if role is Role.CORE}
    if desired.isis is not None:
        core |= {one.name for one in desired.isis.interfaces if not one.passive}
    narrow = min((name for name in core if name in mtus), key=mtus.__getitem__, default=None)
    if narrow is None:
        return
    paths = ServicePaths(desired)
    for classifier in desired.chains.classifiers.values():
        ports = [name for name in interfaces_of(classifier, desired) if name in mtus]
        if not ports:
            continue
        port = max(ports, key=mtus.__getitem__)
        uses = dict.fromkeys((r.chain, r.way) for r in classifier.rules if r.chain is not None)
        for name, way in uses:
            chain = desired.chains.chains[name]
            header, segments = max(
                (
                    (_header(family, len(path.segments)), len(path.segments))
                    for family in paths.families(chain, way)
                    for path in paths.paths(chain, family, way)
                ),
                default=(0, 0),
            )
            if mtus[port] + header > mtus[narrow]:
                yield (
                    f"{names.chain(name)}: packets of {mtus[port]} bytes from {port} and its outer"
                    f" header of {header} bytes ({segments} segments) do not fit {narrow}"
                    f" (MTU {mtus[narrow]}); set the MTU of {narrow} to {mtus[port] + header} or"
                    f" more, or that of {port} to {mtus[narrow] - header}"
                )


def _header(family: Family, segments: int) -> int:
    inner = _ETHERNET if family is Family.ETHERNET else 0
    return _IPV6 + _SRH + segments * _SEGMENT + inner
