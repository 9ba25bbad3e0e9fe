"""What programs rely on: one JSON document of every command, and documented exit statuses."""

import json
from pathlib import Path

import click
import pytest

from srv6mgrd.cli import host, sid_routes, vrf_routes
from srv6mgrd.cli.main import srv6ctl
from srv6mgrd.cli.manual import EXITS
from srv6mgrd.cli.oam import command_line
from srv6mgrd.cli.problem import Exit, Problem
from tests.fakes.oam_network import FakeNetwork, FakeResolver, echo_reply
from tests.unit.cli.conftest import SESSION_DOWN, SID, TREE

DOCS = Path(__file__).parents[3] / "docs/srv6ctl.md"
# What prints text for a program already.
NO_JSON = {"completion"}
LINES = {
    "show config": (),
    "show sids": (),
    "show vrfs": (),
    "show locators": (),
    "show interfaces": (),
    "show routes": (),
    "show steering": (),
    "show bgp": (),
    "show policies": (),
    "show static-routes": (),
    "show leaks": (),
    "show ospf": (),
    "show neighbors": (),
    "show paths": (),
    "show proxies": (),
    "show chains": (),
    "show functions": (),
    "show classifiers": (),
    "show accounting": (),
    "show drops": (),
    "show counters": ("--no-rates",),
    "show alarms": ("--all",),
    "show capabilities": (),
    "show commits": (),
    "show transactions": (),
    "show statistics": (),
    "top": ("-n", "1", "--interval", "0.1"),
    "explain": (SID, "--listen", "0"),
    "doctor": (),
    "ping": ("2001:db8::9", "-c1"),
    "trace": ("2001:db8::9",),
    "plan": ("wanted.json",),
    "diff": ("wanted.json",),
    "set": ("vrf", "red", "--yes"),
    "delete": ("vrf", "red", "--dry-run"),
    "apply": ("wanted.json",),
    "confirm": (),
    "cancel": (),
    "extend": ("10m",),
    "rollback": ("1",),
    "reconcile": (),
    "clear-counters": (),
    "ack": ("bgp-session-down",),
    "support-bundle": ("bundle.tar.gz",),
}


@pytest.fixture
def node(ctl, tmp_path, monkeypatch):
    """One on which every command has something to print."""
    ctl.report()
    ctl.alarms(SESSION_DOWN)
    ctl.transactions(2, 1, pending={"id": "one", "deadline": "2026-11-21T10:00:00Z"})
    (tmp_path / "wanted.json").write_text(json.dumps(TREE))
    monkeypatch.chdir(tmp_path)
    # Nobody samples here.
    monkeypatch.setattr("srv6mgrd.cli.state._TIMEOUT", 0.0)
    monkeypatch.setattr(host, "read", lambda **_: host.Host({}, (), (), frozenset()))
    monkeypatch.setattr(sid_routes, "find", lambda _: None)
    monkeypatch.setattr(vrf_routes, "vrfs", lambda: {"red": 10})
    monkeypatch.setattr(vrf_routes, "read", lambda _: [])
    monkeypatch.setattr(vrf_routes, "unreachable", lambda _: {})
    monkeypatch.setattr("srv6mgrd.cli.doctor.kernel.probed", dict)
    monkeypatch.setattr(command_line, "Resolver", FakeResolver)
    monkeypatch.setattr(command_line, "RawSockets", lambda *_: FakeNetwork(echo_reply))
    ctl.client.modules = frozenset
    ctl.client.startup = ctl.client.running
    return ctl


def commands(group, context, before=""):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, context, f"{before}{name} ")
        else:
            yield before + name


def test_every_command_is_here():
    context = click.Context(srv6ctl, info_name="srv6ctl")
    assert set(commands(srv6ctl, context)) == LINES.keys() | NO_JSON


@pytest.mark.parametrize("command", LINES)
def test_it_prints_one_document(node, command):
    shown = node.run(*command.split(), *LINES[command], "--json")
    assert isinstance(shown.json, dict), shown.err
    # doctor ends as monitoring plug-ins do.
    assert shown.status in ({0, 1, 2, 3} if command == "doctor" else {Exit.DONE, Exit.FOUND})


@pytest.mark.parametrize("status", [s for s in Exit if 0 < s < Exit.INTERRUPTED])
def test_errors_are_a_document_too(node, status):
    node.client.trouble = Problem.of("commit one", "it awaits", "wait", status)
    shown = node.run("apply", "wanted.json", "--json")
    assert (shown.status, shown.out) == (status, "")
    complaint = {"object": "commit one", "cause": "it awaits", "remedy": "wait"}
    assert json.loads(shown.err) == {"errors": [complaint]}


def test_interrupted(node):
    def interrupt():
        raise KeyboardInterrupt

    node.client.running = interrupt
    assert node.run("diff", "wanted.json").status == Exit.INTERRUPTED


def test_exit_statuses_are_documented():
    assert EXITS.keys() == set(Exit)
    table = DOCS.read_text().partition("## Exit status")[2].partition("## ")[0]
    reported = {
        int(number)
        for line in table.splitlines()
        if line.startswith("| ") and line[2].isdigit()
        for number in line.split("|")[1].split(",")
    }
    assert reported == set(map(int, Exit))
