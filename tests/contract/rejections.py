"""Mistakes that gNMI and NETCONF report alike: message, error-app-tag, error-path and bad-element.

The configuration before is ``gnmi.data.SRV6`` and ``netconf.data.ROUTER``, which are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.frr.limits import limits
from srv6mgrd.model.checks import check
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import RejectedError
from tests.contract.gnmi.data import SRV6

_SRV6 = "/srv6mgr-srv6:srv6"


@dataclass(frozen=True, slots=True)
class Mistake:
    """``config`` is merged below ``srv6``."""

    config: Mapping[str, Any]
    message: str
    app_tag: str
    path: str
    element: str = ""

    def __str__(self) -> str:
        return self.app_tag

    def xml(self) -> str:
        """The same with the prefix of ``netconf.client.NS``."""
        return _xml("srv6", self.config)

    def document(self) -> str:
        """All of the configuration, as ``plan`` takes it."""
        return document(self.config)


def document(config: Mapping[str, Any]) -> str:
    """The configuration before, with ``config`` merged below ``srv6``."""
    return json.dumps({"srv6mgr-srv6:srv6": _merged(SRV6, config)})


def judge(tree: Mapping[str, Any]) -> None:
    """What srv6mgrd asks before it plans. Raises RejectedError."""
    desired = expand(parse(tree))
    check(desired)
    if found := limits(desired):
        raise RejectedError(found)


def _merged(before: Mapping[str, Any], config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Lists get further entries: none of a mistake is there before."""
    merged = dict(before)
    for name, value in config.items():
        if isinstance(value, Mapping):
            value = _merged(before.get(name, {}), value)
        elif isinstance(value, list):
            value = [*before.get(name, ()), *value]
        merged[name] = value
    return merged


def _xml(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "".join(_xml(name, item) for item in value)
    if isinstance(value, Mapping):
        inside = "".join(_xml(child, below) for child, below in value.items())
    else:
        inside = f"s:{value}" if name == "behavior" else str(value)
    return f"<s:{name}>{inside}</s:{name}>"


def _sid(prefix: str, behavior: str, **more: str) -> Mapping[str, Any]:
    entry = {"prefix": prefix, "locator": "main", "behavior": behavior, **more}
    return {"local-sids": {"sid": [entry]}}


def _vrf(**leaves: Any) -> Mapping[str, Any]:
    return {"vrfs": {"vrf": [leaves]}}


MISTAKES = (
    # Of srv6mgrd.
    Mistake(
        _sid("fcbb:0:9:1::/64", "End"),
        "SID fcbb:0:9:1::/64: it is outside locator main (fcbb:0:1::/48); choose a SID in this"
        " prefix, or another locator",
        "sid-outside-locator",
        f"{_SRV6}/local-sids/sid[prefix='fcbb:0:9:1::/64']",
    ),
    Mistake(
        _vrf(name="blue", **{"table-id": 101, "interface": ["eth1"]}),
        "VRF red: interface eth1 is already in VRF blue; list it in one VRF only",
        "interface-in-use",
        f"{_SRV6}/vrfs/vrf[name='red']",
    ),
    # Of libyang.
    Mistake(
        _vrf(name="blue"),
        "VRF blue: table-id is missing; add table-id",
        "missing",
        f"{_SRV6}/vrfs/vrf[name='blue']",
        "table-id",
    ),
    Mistake(
        _sid("fcbb:0:1:65::/64", "End.DT4"),
        "SID fcbb:0:1:65::/64: End.DT4 and End.DT46 look up a VRF; add vrf",
        "sid-vrf-missing",
        f"{_SRV6}/local-sids/sid[prefix='fcbb:0:1:65::/64']",
    ),
    Mistake(
        _sid("fcbb:0:1:65::/64", "End.DT46", vrf="green"),
        "SID fcbb:0:1:65::/64: VRF green does not exist; create it or name an existing VRF",
        "instance-required",
        f"{_SRV6}/local-sids/sid[prefix='fcbb:0:1:65::/64']/vrf",
    ),
)  # fmt: skip
