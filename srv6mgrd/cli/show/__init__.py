"""``srv6ctl show``: what the node has and does."""

from __future__ import annotations

import click

from srv6mgrd.cli.lazy import LazyGroup

_ROOM = "srv6mgrd.cli.show"
_COMMANDS = {
    "config": f"{_ROOM}.config",
    "sids": f"{_ROOM}.sids",
    "vrfs": f"{_ROOM}.vrfs",
    "proxies": f"{_ROOM}.proxies",
    "chains": f"{_ROOM}.chains",
    "functions": f"{_ROOM}.functions",
    "classifiers": f"{_ROOM}.classifiers",
    "locators": f"{_ROOM}.locators",
    "interfaces": f"{_ROOM}.interfaces",
    "routes": f"{_ROOM}.routes",
    "steering": f"{_ROOM}.steering",
    "policies": f"{_ROOM}.policies",
    "static-routes": f"{_ROOM}.static_routes",
    "leaks": f"{_ROOM}.leaks",
    "ospf": f"{_ROOM}.ospf",
    "neighbors": f"{_ROOM}.neighbors",
    "bgp": f"{_ROOM}.neighbors",
    "paths": f"{_ROOM}.measured_paths",
    "accounting": f"{_ROOM}.accounting",
    "drops": f"{_ROOM}.drops",
    "alarms": f"{_ROOM}.alarms",
    "counters": f"{_ROOM}.counters",
    "capabilities": f"{_ROOM}.node",
    "commits": f"{_ROOM}.node",
    "transactions": f"{_ROOM}.node",
    "statistics": f"{_ROOM}.node",
}


@click.group(cls=LazyGroup, modules=_COMMANDS)
def show() -> None:
    """What the node has and does."""
