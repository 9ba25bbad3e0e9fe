"""``srv6ctl show``: what the node has and does."""

from __future__ import annotations

import click

from srv6mgrd.cli.show.counters import counters
from srv6mgrd.cli.show.node import capabilities, statistics, transactions
from srv6mgrd.cli.show.objects import locators, proxies, routes, sids, vrfs


@click.group()
def show() -> None:
    """What the node has and does."""


for _command in (
    sids,
    vrfs,
    proxies,
    locators,
    routes,
    counters,
    capabilities,
    transactions,
    statistics,
):
    show.add_command(_command)
