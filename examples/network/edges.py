"""Three provider edges and a controller that may change them, in the lab."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography import x509

from lab.guest.nodes import Node
from lab.guest.services import Router
from tests.contract.certificates import Authority

HERE = Path(__file__).parent
EDGES = ("pe1", "pe2", "pe3")
SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid")
# On the controller, and on the edges.
_THERE, _CREDENTIALS = "/etc/srv6net", "/etc/srv6mgr/credentials"
_SETTINGS = f"""\
listen = ["[::]:9339"]
certificate = "{_CREDENTIALS}/edge.crt"
key = "{_CREDENTIALS}/edge.key"
client_ca = "{_CREDENTIALS}/ca.crt"
certificate_names = ["common-name"]
"""
_RULES = "/src/packaging/deb/debian/nacm.json"


def start(started: Callable[[str], None] = lambda _: None) -> None:
    """Start the routers with their base configuration; each accepts the controller."""
    shown = credentials()
    for name in EDGES:
        Router(name).start(*SERVICES)
        admit(name, shown)
        started(name)


def credentials() -> Authority:
    """An inventory and a certificate for the controller; the authority that signed it."""
    controller = Node("ctl")
    controller.path(_THERE).mkdir(parents=True, exist_ok=True)
    authority = Authority(controller.path(_THERE), "ca")
    authority.sign("controller")
    controller.write_file(f"{_THERE}/inventory.toml", (HERE / "inventory.toml").read_text())
    return authority


def pending(edge: Node) -> Any:
    """The commit of a router that awaits confirmation; nothing where there is none."""
    return transactions(edge).get("pending")


def transactions(edge: Node) -> dict[str, Any]:
    found: dict[str, Any] = edge.json(["srv6ctl", "show", "transactions", "--json"])
    return dict(found["transactions"])


def admit(name: str, authority: Authority) -> None:
    """A router that runs gets its base configuration, and accepts the controller over TLS."""
    edge, router = Node(name), Router(name)
    address = ipaddress.ip_address(f"2001:db8::{name.removeprefix('pe')}")
    made = authority.sign(name, x509.IPAddress(address))
    edge.write_file("/etc/srv6mgr/gnmid.toml", _SETTINGS)
    edge.write_file(f"{_CREDENTIALS}/edge.crt", made.file.read_text())
    edge.write_file(f"{_CREDENTIALS}/edge.key", made.key.read_text(), 0o600)
    edge.write_file(f"{_CREDENTIALS}/ca.crt", authority.certificate.file.read_text())
    edge.run(["groupadd", "--system", "--force", "srv6mgr-operator"])
    edge.run(["useradd", "--system", "--no-create-home", "-G", "srv6mgr-operator", "controller"])
    rules = ["sysrepocfg", "-I", _RULES, "-f", "json", "-m", "ietf-netconf-acm", "-d"]
    for datastore in ("startup", "running"):
        edge.run([*rules, datastore])
    edge.run(["srv6ctl", "apply", f"/src/examples/network/base/{name}.json"], timeout=120)
    router.restart("srv6-gnmid")


def as_before(name: str) -> None:
    """Take all of this back, from a router whose services are gone."""
    edge = Node(name)
    empty = ["srv6ctl", "apply", "--replace", "--empty", "-"]
    edge.run(empty, input='{"srv6mgr-srv6:srv6": {}}', timeout=120)
    edge.run(["rm", "-rf", _CREDENTIALS, "/etc/srv6mgr/gnmid.toml"])
    edge.run(["userdel", "controller"])
    edge.run(["groupdel", "srv6mgr-operator"])
    Router(name).restart("srv6-gnmid")
