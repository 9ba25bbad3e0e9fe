"""The routers: where they are, and what srv6net may hand out on them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any

from srv6net.intent.document import Place


@dataclass(frozen=True, slots=True)
class Locator:
    """A locator as the router declares it, and the bits of a function in it."""

    name: str
    prefix: IPv6Network
    function_length: int = 16
    # The prefix as text, which takes longer to write than most else of a compilation.
    text: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.prefix))


@dataclass(frozen=True, slots=True)
class Tls:
    """Files of the TLS session: authority (that of the system without it), and the controller's
    certificate and key. ``server_name`` is in the router's certificate where its address is not."""

    ca: str = ""
    certificate: str = ""
    key: str = ""
    server_name: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How a router is reached: where its gNMI server listens, and who this controller is there."""

    address: str
    tls: Tls = Tls()
    username: str = ""
    password_file: str = ""


@dataclass(frozen=True, slots=True)
class Router:
    """A provider edge. ``interfaces`` are those towards customers, all of them may be used where
    none is named."""

    name: str
    endpoint: Endpoint
    locator: Locator
    loopback: IPv6Address
    router_id: IPv4Address
    interfaces: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Inventory:
    """All routers of one AS, and the numbers of route targets that are srv6net's. ``digest`` is
    that of the document, and empty where nobody knows it."""

    as_number: int
    routers: Mapping[str, Router]
    first_target: int = 10_000
    last_target: int = 59_999
    digest: str = field(default="", compare=False)


_ENDPOINT = ("tls", "username", "password-file")
_ADDRESS = re.compile(r"unix:/.+|(\[[0-9a-fA-F:.]+\]|[^:\[\]]+):[0-9]{1,5}")
_TLS = ("ca", "certificate", "key", "server-name")
_FIELDS = frozenset(name.replace("-", "_") for name in _TLS)


def inventory(document: Mapping[str, Any]) -> Inventory:
    """Read an inventory; RejectedError with all that is wrong in it."""
    top = Place(document, "inventory")
    top.only("as-number", "route-targets", "routers", *_ENDPOINT)
    as_number = top.leaf("as-number", int, 0)
    if not 1 <= as_number <= 2**32 - 1:
        top.reject("inventory", "it has no as-number", "set it to the AS of the routers", "missing")
    # Two bytes of AS leave four for the number, four leave two (RFC 4360 section 3.1, RFC 5668).
    most = 2**32 - 1 if as_number < 2**16 else 65_535
    first, last = top.leaf("route-targets", partial(_span, most), (10_000, 59_999))
    routers = top.below("routers")
    common = _endpoint(top, Endpoint(""))
    found = {name: _router(name, routers.below(name), common) for name in routers.value}
    for one in found.values():
        for other in found.values():
            if one.name < other.name and one.locator.prefix.overlaps(other.locator.prefix):
                top.reject(
                    f"router {one.name}",
                    f"its locator {one.locator.prefix} overlaps that of router {other.name}",
                    "give each router a locator of its own",
                    "locator-overlap",
                )
            if one.name < other.name and one.router_id == other.router_id:
                top.reject(
                    f"router {one.name}",
                    f"router {other.name} has the router-id {one.router_id} too",
                    "give each router a router-id of its own",
                    "router-id-twice",
                )
    top.finish()
    return Inventory(as_number, found, first, last, _digest(document))


def _digest(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _router(name: str, place: Place, common: Endpoint) -> Router:
    place.only("address", "locator", "loopback", "router-id", "interfaces", *_ENDPOINT)
    for needed in ("address", "locator", "loopback", "router-id"):
        if needed not in place.value:
            place.reject(f"router {name}", f"it has no {needed}", f"set {needed}", "missing")
    address = str(place.value.get("address", ""))
    if address and not _ADDRESS.fullmatch(address):
        place.reject(
            f"router {name}",
            f"address {address} has no port",
            "write it like pe1.example.net:9339, [2001:db8::1]:9339 or unix:/path",
            "address",
        )
    locator = place.below("locator")
    locator.only("name", "prefix", "function-length")
    made = Locator(
        str(locator.value.get("name", "MAIN")),
        locator.leaf("prefix", IPv6Network, IPv6Network("::/128")),
        locator.leaf("function-length", int, 16),
    )
    if not 0 <= made.function_length <= 128 - made.prefix.prefixlen and "prefix" in locator.value:
        place.reject(
            f"router {name}",
            f"locator {made.name} has no room for {made.function_length} bits of function",
            "shorten function-length or the prefix",
            "locator-lengths",
        )
    return Router(
        name,
        replace(_endpoint(place, common), address=address),
        made,
        place.leaf("loopback", IPv6Address, IPv6Address("::")),
        place.leaf("router-id", IPv4Address, IPv4Address(0)),
        frozenset(place.value.get("interfaces", ())),
    )


def _endpoint(place: Place, common: Endpoint) -> Endpoint:
    """A router's own settings replace the common ones, one by one."""
    tls = place.below("tls")
    tls.only(*_TLS)
    if ("certificate" in tls.value) != ("key" in tls.value):
        tls.reject(tls.path, "certificate and key belong together", "set both", "missing")
    given = {name.replace("-", "_"): str(value) for name, value in tls.value.items()}
    return Endpoint(
        common.address,
        replace(common.tls, **{name: value for name, value in given.items() if name in _FIELDS}),
        str(place.value.get("username", common.username)),
        str(place.value.get("password-file", common.password_file)),
    )


def _span(most: int, given: Any) -> tuple[int, int]:
    first, last = given
    if not 1 <= first <= last <= most:
        raise ValueError(f"{first} to {last} is no range within 1 to {most}")
    return first, last
