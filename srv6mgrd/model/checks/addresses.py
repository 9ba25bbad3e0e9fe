"""Addresses of interfaces: usable by a host, once in each VRF, and beside the SIDs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, IPv6Network

from srv6mgrd.model import names
from srv6mgrd.model.csid import is_of_local_block
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.interfaces import Address, Interface
from srv6mgrd.model.paths import interface_path
from srv6mgrd.model.rejection import Rejection

_THIS_NETWORK = 0  # 0.0.0.0/8, RFC 1122 section 3.2.1.3


def check(desired: Desired) -> Iterator[Rejection]:
    vrf_of = {port: vrf.name for vrf in desired.vrfs.values() for port in vrf.interfaces}
    vrf_of |= {name: name for name in desired.vrfs}
    local = [
        sid.prefix
        for sid in desired.sids.values()
        if sid.flavors and is_of_local_block(sid, desired.locators[sid.locator])
    ]
    users: dict[tuple[str | None, IPv4Address | IPv6Address], str] = {}
    for one in sorted(desired.interfaces.values(), key=lambda i: i.name):
        vrf = vrf_of.get(one.name)
        for address in one.addresses:
            if why := _unusable(address):
                yield _rejection(
                    one,
                    f"address {address} is {why}",
                    "choose the address of a host",
                    "interface-address-reserved",
                )
                continue
            if address.is_link_local:
                continue  # it belongs to its link alone
            first = users.setdefault((vrf, address.ip), one.name)
            if first != one.name:
                where = f" in VRF {vrf}" if vrf is not None else ""
                yield _rejection(
                    one,
                    f"address {address.ip} is already declared for interface {first}{where}",
                    "choose another address",
                    "interface-address-in-use",
                )
            if vrf is None and isinstance(address, IPv6Interface):
                yield from _beside_sids(desired, local, one, address)


def _unusable(address: Address) -> str:
    """Why no interface can have it as its own; empty when one can."""
    ip = address.ip
    if ip.is_multicast:
        return "multicast"
    if ip.is_unspecified:
        return "the unspecified address"
    if ip.is_loopback:
        return "loopback"
    if isinstance(address, IPv6Interface):
        return "an IPv4-mapped address" if address.ip.ipv4_mapped is not None else ""
    return _unusable_ipv4(address)


def _unusable_ipv4(address: IPv4Interface) -> str:
    if address.ip.packed[0] == _THIS_NETWORK:
        return "of network 0.0.0.0/8"
    if address.ip == IPv4Address("255.255.255.255"):
        return "the limited broadcast address"
    # Subnets of two addresses have neither (RFC 3021).
    if address.network.prefixlen <= 30:
        if address.ip == address.network.network_address:
            return f"the address of the subnet {address.network} itself"
        if address.ip == address.network.broadcast_address:
            return f"the broadcast address of subnet {address.network}"
    return ""


def _beside_sids(
    desired: Desired, local: Sequence[IPv6Network], one: Interface, address: IPv6Interface
) -> Iterator[Rejection]:
    """A local address comes before a SID (the rule of the table local is the first one), and a
    subnet takes what no SID matches out of its interface. An address of the locator's node,
    function 0, as /128 is in nobody's way."""
    for locator in desired.locators.values():
        if address.network.prefixlen == address.max_prefixlen:
            if address.ip in locator.prefix and _is_sid(address.ip, locator):
                yield _rejection(
                    one,
                    f"address {address.ip} is among the SIDs of locator {locator.name}",
                    f"choose an address outside of {locator.prefix}, or one with function 0",
                    "interface-address-sid",
                )
        elif address.network.overlaps(locator.prefix):
            yield _rejection(
                one,
                f"subnet {address.network} overlaps {locator.prefix} of locator {locator.name}",
                "choose a subnet outside of the locator, or declare the address as /128",
                "interface-address-locator",
            )
    for prefix in local:
        if address.network.overlaps(prefix):
            yield _rejection(
                one,
                f"address {address} overlaps SID {prefix} of the local block",
                f"choose an address outside of {prefix}",
                "interface-address-sid",
            )


def _is_sid(ip: IPv6Address, locator: Locator) -> bool:
    if locator.function_of(IPv6Network(ip)):
        return True
    # uN is the locator's prefix itself.
    return locator.micro_segment and ip == locator.prefix.network_address


def _rejection(one: Interface, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.interface(one.name), cause, remedy, tag, interface_path(one.name))
