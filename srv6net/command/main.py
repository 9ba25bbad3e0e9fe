"""Entry point of srv6net: its options and its commands."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path

import click

from srv6mgrd.cli.lazy import LazyGroup
from srv6mgrd.cli.process import executed
from srv6net.command.session import INVENTORY, Session
from srv6net.store.opening import STORE

# In the order in which an operator meets them.
_COMMANDS = {
    "plan": "srv6net.command.change",
    "rehearse": "srv6net.command.rehearse",
    "apply": "srv6net.command.change",
    "status": "srv6net.command.show",
    "diff": "srv6net.command.show",
    "rollback": "srv6net.command.change",
    "resume": "srv6net.command.change",
    "reconcile": "srv6net.command.change",
    "import": "srv6net.command.adoption",
    "adopt": "srv6net.command.adoption",
    "targets": "srv6net.command.prometheus",
}
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, modules=_COMMANDS, context_settings=_HELP)
@click.option(
    "--inventory",
    type=click.Path(path_type=Path),
    default=INVENTORY,
    envvar="SRV6NET_INVENTORY",
    help=f"The routers ({INVENTORY}).",
)
@click.option(
    "--store",
    metavar="PLACE",
    default=STORE,
    envvar="SRV6NET_STORE",
    help="Revisions and transactions: a file, or etcd://HOST:PORT,... for several controllers"
    f" ({STORE}).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.version_option(package_name="srv6mgr", prog_name="srv6net")
@click.pass_context
def srv6net(context: click.Context, inventory: Path, store: str, as_json: bool) -> None:
    """VPN services across many routers, each changed by one transaction."""
    context.obj = Session(inventory, store, as_json=as_json)
    context.call_on_close(context.obj.close)


def main() -> int:
    """Run srv6net; its exit status."""
    # It ends before it pays to look for garbage among the objects of a large network.
    gc.disable()
    # Each router is a connection; the usual limit is 1,024 descriptors.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return executed(srv6net, "srv6net")


if __name__ == "__main__":
    sys.exit(main())
