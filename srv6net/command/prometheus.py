"""``targets``: the routers of the inventory for the service discovery of Prometheus."""

from __future__ import annotations

from typing import Any

import click

from srv6net.command.session import Session, json_option, pass_session
from srv6net.intent.inventory import Inventory

# Of srv6-metricsd.
PORT = 9439


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), default=PORT, help=f"TCP port ({PORT}).")
@json_option
@pass_session
def targets(session: Session, *, port: int) -> None:
    """Print the routers as a file for file_sd_configs of Prometheus.

    Each has the labels router and locator. A router that is reached over a UNIX socket is left
    out.
    """
    session.out.json(discovered(session.inventory, port))


def discovered(inventory: Inventory, port: int) -> list[dict[str, Any]]:
    found = []
    for router in inventory.routers.values():
        if router.endpoint.address.startswith("unix:"):
            continue
        host = router.endpoint.address.rpartition(":")[0]
        labels = {"router": router.name, "locator": str(router.locator.prefix)}
        found.append({"targets": [f"{host}:{port}"], "labels": labels})
    return found
