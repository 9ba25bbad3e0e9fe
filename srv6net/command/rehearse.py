"""``rehearse``: the services in the lab first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from srv6mgrd.cli.problem import Complaint, Exit, Problem, complaint_of
from srv6net.command.change import carry_out, finish_open
from srv6net.command.session import Session, document, json_option, pass_session, problems
from srv6net.command.toml import written
from srv6net.proposal import Proposal, propose
from srv6net.rehearsal.plan import Rehearsal, rehearsal

# MiB of the lab for itself and for each router.
_LAB, _ROUTER = 1024, 160
_PYTHON = "/opt/srv6mgr/bin/python"
_LIMIT_S = 900


@click.command()
@click.argument("file")
@click.option("--router", "only", multiple=True, help="Only these routers; may be repeated.")
@click.option(
    "--lab",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="SRV6NET_LAB",
    default=".",
    help="Folder of the source tree of srv6mgr, which has the lab.",
)
@click.option("--apply", "is_applied", is_flag=True, help="Apply FILE if all went well.")
@json_option
@pass_session
def rehearse(
    session: Session, file: str, *, only: tuple[str, ...], lab: Path, is_applied: bool
) -> None:
    """Try the services in FILE in a lab with these routers, before the network gets them.

    The routers of the lab get the configuration that `apply` would give to those of the network, by
    the same transaction. Sites that a service connects have to reach each other, and no others. On
    a terminal, `rehearse` asks then whether to apply FILE.
    """
    wanted = document(file)
    if not (lab / "lab/lab").exists():
        raise Problem.of(
            str(lab), "it has no lab", "name the source tree of srv6mgr with --lab", Exit.USAGE
        )
    with problems():
        current = session.store.revision()
        proposal = propose(wanted, session.inventory, current, time.time())
        made = rehearsal(proposal, session.inventory, only)
    if not made.nodes:
        raise Problem.of(file, "it has no service on these routers", "name others", Exit.USAGE)
    for note in made.notes:
        session.out.note(note)
    found = _carried_out(made, lab.resolve())
    _report(session, made, found)
    if is_applied or (sys.stdin.isatty() and click.confirm("Apply it to the network?")):
        _apply(session, wanted, proposal)


def _carried_out(made: Rehearsal, lab: Path) -> Mapping[str, Any]:
    """What the lab wrote of it. The lab sees files of its source tree alone."""
    (lab / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rehearsal-", dir=lab / "build") as name:
        folder = Path(name)
        (folder / "plan.json").write_text(made.as_json())
        (folder / "topology.toml").write_text(written(made.topology))
        out = folder / "out"
        command = [
            str(lab / "lab/lab"), "run", "--limit", str(_LIMIT_S),
            "--topology", str(folder / "topology.toml"), "--",
            _PYTHON, "-m", "lab.guest.rehearsal",
            str(Path("/src") / (folder / "plan.json").relative_to(lab)),
        ]  # fmt: skip
        memory = str(_LAB + _ROUTER * len(made.nodes))
        environment = {"LAB_MEMORY": memory, **os.environ, "LAB_OUT": str(out)}
        done = subprocess.run(command, cwd=lab, env=environment, check=False, stdout=sys.stderr)
        try:
            found: dict[str, Any] = json.loads((out / "rehearsal.json").read_text())
        except (OSError, ValueError):
            raise Problem.of(
                "lab", f"it ended with status {done.returncode}", "see its messages above"
            ) from None
        return found


def _report(session: Session, made: Rehearsal, found: Mapping[str, Any]) -> None:
    failed = found["problems"]
    wanted = sum(one.is_wanted for one in made.probes)
    if session.out.as_json:
        session.out.json({**found, "reached": wanted, "isolated": len(made.probes) - wanted})
    elif not failed:
        session.out.line(
            f"passed: {len(made.nodes)} routers; {wanted} addresses are reached,"
            f" {len(made.probes) - wanted} are not, as is wanted"
        )
    if failed:
        complaints = [complaint_of(text, "rehearsal", "correct the services") for text in failed]
        raise Problem(complaints, Exit.REJECTED)


def _apply(session: Session, wanted: Mapping[str, Any], rehearsed: Proposal) -> None:
    """Only what was rehearsed."""
    with session.leading():
        finish_open(session)
        current = session.store.revision()
        if current.number + 1 != rehearsed.revision.number:
            complaint = Complaint(
                f"revision {current.number}",
                "it became current while FILE was rehearsed",
                "rehearse again",
            )
            raise Problem([complaint], Exit.REJECTED)
        carry_out(session, rehearsed)
