"""``targets``: the routers of the inventory for Prometheus, and for gnmic."""

from __future__ import annotations

from typing import Any

import click

from srv6net.command.session import Session, json_option, pass_session
from srv6net.intent.inventory import Inventory

# Of srv6-metricsd.
PORT = 9439


@click.command()
@click.option("--port", type=click.IntRange(1, 65_535), default=PORT, help=f"TCP port ({PORT}).")
@click.option("--gnmic", "is_gnmic", is_flag=True, help="For the file loader of gnmic instead.")
@json_option
@pass_session
def targets(session: Session, *, port: int, is_gnmic: bool) -> None:
    """Print the routers as a file for file_sd_configs of Prometheus.

    Each has the labels router and locator. A router that is reached over a UNIX socket is left
    out.
    """
    known = session.inventory
    session.out.json(gnmic(known) if is_gnmic else discovered(known, port))


def gnmic(inventory: Inventory) -> dict[str, Any]:
    """Targets by name, with the credentials that are files; passwords are gnmic's own."""
    found = {}
    for router in inventory.routers.values():
        endpoint = router.endpoint
        if endpoint.address.startswith("unix:"):
            continue
        settings = {
            "address": endpoint.address,
            "username": endpoint.username,
            "tls-ca": endpoint.tls.ca,
            "tls-cert": endpoint.tls.certificate,
            "tls-key": endpoint.tls.key,
            "tls-server-name": endpoint.tls.server_name,
        }
        given: dict[str, Any] = {name: value for name, value in settings.items() if value}
        found[router.name] = {**given, "tags": [f"locator={router.locator.text}"]}
    return found


def discovered(inventory: Inventory, port: int) -> list[dict[str, Any]]:
    found = []
    for router in inventory.routers.values():
        if router.endpoint.address.startswith("unix:"):
            continue
        host = router.endpoint.address.rpartition(":")[0]
        labels = {"router": router.name, "locator": str(router.locator.prefix)}
        found.append({"targets": [f"{host}:{port}"], "labels": labels})
    return found
