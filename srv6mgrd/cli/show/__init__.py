"""``srv6ctl show``: what the node has and does."""

from __future__ import annotations

import click

from srv6mgrd.cli.show.counters import counters
from srv6mgrd.cli.show.interfaces import interfaces
from srv6mgrd.cli.show.leaks import leaks
from srv6mgrd.cli.show.measured_paths import paths
from srv6mgrd.cli.show.neighbors import neighbors
from srv6mgrd.cli.show.node import capabilities, commits, statistics, transactions
from srv6mgrd.cli.show.objects import locators, proxies, routes, sids, vrfs
from srv6mgrd.cli.show.ospf import ospf
from srv6mgrd.cli.show.policies import policies
from srv6mgrd.cli.show.static_routes import static_routes


@click.group()
def show() -> None:
    """What the node has and does."""


for _command in (
    sids,
    vrfs,
    proxies,
    locators,
    interfaces,
    routes,
    policies,
    static_routes,
    leaks,
    ospf,
    neighbors,
    paths,
    counters,
    capabilities,
    commits,
    transactions,
    statistics,
):
    show.add_command(_command)
