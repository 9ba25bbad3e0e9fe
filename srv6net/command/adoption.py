"""``import`` and ``adopt``: VPNs that routers had before srv6net."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import methodcaller
from typing import Any

import click

from srv6mgrd.cli.problem import Exit, Problem, complaint_of
from srv6net.adoption import adopted, found_on, seeded
from srv6net.command.change import carry_out, finish_open, show
from srv6net.command.session import Session, document, json_option, pass_session, problems
from srv6net.intent.checks import check
from srv6net.intent.l3nm import services
from srv6net.proposal import propose
from srv6net.transaction.executor import AT_ONCE
from srv6net.transaction.ports import DeviceError


@click.command(name="import")
@click.argument("router", nargs=-1)
@json_option
@pass_session
def import_(session: Session, router: tuple[str, ...]) -> None:
    """Print the VPNs that routers have, as a document for `adopt`; of all routers without ROUTER.

    VRFs of one name are one service. Everything that the document cannot say is listed on standard
    error. Nothing is changed.
    """
    found = found_on(_configurations(session, router or session.inventory.routers))
    for note in found.notes:
        session.out.note(note)
    session.out.json(found.document)


@click.command()
@click.argument("file")
@click.option("--change", is_flag=True, help="Make the routers as FILE says where they differ.")
@json_option
@pass_session
def adopt(session: Session, file: str, *, change: bool) -> None:
    """Make services that routers have already those of srv6net, with the numbers that they have.

    FILE has all services of the network, as `import` prints them. Where a router differs from it,
    the differences are printed and nothing is adopted, unless --change is given.
    """
    wanted = document(file)
    with session.leading():
        finish_open(session)
        current = session.store.revision()
        with problems():
            read = services(wanted)
            check(read, session.inventory)
            names = sorted({node.router for service in read for node in service.nodes})
            configurations = _configurations(session, names)
            allocations = seeded(read, session.inventory, configurations, current.allocations)
            before = replace(current, allocations=allocations, inventory="")
            proposal = propose(wanted, session.inventory, before, time.time())
        found = {
            name: _asked(session, name, methodcaller("read", one.after))
            for name, one in proposal.changes.items()
        }
        proposal = adopted(proposal, found)
        if proposal.changes and not change:
            show(session, proposal)
            raise Problem.of(file, "routers differ from it", "correct it, or add --change")
        carry_out(session, proposal)


def _configurations(session: Session, names: Iterable[str]) -> dict[str, Any]:
    listed = sorted(names)
    with ThreadPoolExecutor(AT_ONCE, "router") as threads:
        whole = methodcaller("configuration")
        read = threads.map(lambda name: _asked(session, name, whole), listed)
        return dict(zip(listed, read, strict=True))


def _asked(session: Session, name: str, ask: Callable[[Any], Any]) -> Any:
    device = session.devices.get(name)
    try:
        if device is None:
            raise DeviceError("the inventory lacks it; add it")
        return ask(device)
    except DeviceError as error:
        raise Problem([complaint_of(f"router {name}: {error}")], Exit.UNREACHABLE) from None
