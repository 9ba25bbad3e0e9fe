"""``srv6net rehearse`` without a lab: what the lab is asked, and what is made of its answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from srv6net.command import rehearse
from tests.unit.srv6net.test_command import GREEN, RED, Network


class Lab:
    """In place of lab/lab: notes the plan, and answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "lab").mkdir()
        (folder / "lab/lab").touch()
        self.answer: Any = {"problems": [], "seconds": {}}
        self.plans: list[Any] = []

    def run(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        plan = self.folder / Path(command[-1]).relative_to("/src")
        self.plans.append(json.loads(plan.read_text()))
        if self.answer is None:
            return subprocess.CompletedProcess(command, 125)
        out = Path(options["env"]["LAB_OUT"])
        out.mkdir()
        (out / "rehearsal.json").write_text(json.dumps(self.answer))
        return subprocess.CompletedProcess(command, 0)


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Network:
    return Network(tmp_path, monkeypatch, capsys)


@pytest.fixture
def lab(network: Network, monkeypatch: pytest.MonkeyPatch) -> Lab:
    made = Lab(network.folder)
    monkeypatch.setattr(rehearse.subprocess, "run", made.run)
    monkeypatch.setenv("SRV6NET_LAB", str(network.folder))
    return made


def test_what_passed_changes_nothing_yet(network: Network, lab: Lab) -> None:
    status, out, _ = network.run("rehearse", network.intent(RED))
    assert (status, out[:17]) == (0, "passed: 2 routers")
    assert lab.plans[0]["entries"].keys() == {"pe1", "pe2"}
    assert network.routers["pe1"].entries == {}
    assert not list((network.folder / "build").iterdir())


def test_apply_gives_the_network_what_was_rehearsed(network: Network, lab: Lab) -> None:
    status, out, _ = network.run("rehearse", "--apply", network.intent(RED))
    assert (status, out.splitlines()[-1]) == (0, "committed: revision 1")
    assert network.routers["pe1"].entries == lab.plans[0]["entries"]["pe1"]


def test_what_failed_is_not_applied(network: Network, lab: Lab) -> None:
    lab.answer = {"problems": ["access a and access b do not reach each other"], "seconds": {}}
    status, _, err = network.run("rehearse", "--apply", network.intent(GREEN))
    assert status == 1
    assert "access a and access b do not reach each other; correct the services" in err
    assert network.routers["pe1"].entries == {}


def test_a_change_meanwhile_is_not_overwritten(
    network: Network, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, other = network.intent(RED), network.folder / "other.json"

    def run(*words: Any, **options: Any) -> Any:
        monkeypatch.setattr(rehearse.subprocess, "run", lab.run)
        other.write_text(json.dumps({"ietf-l3vpn-ntw:l3vpn-ntw": {}}))
        network.run("apply", str(other))
        return lab.run(*words, **options)

    monkeypatch.setattr(rehearse.subprocess, "run", run)
    status, _, err = network.run("rehearse", "--apply", wanted)
    assert status == 1
    assert "it became current while FILE was rehearsed; rehearse again" in err


def test_a_lab_that_does_not_boot_is_reported(network: Network, lab: Lab) -> None:
    lab.answer = None
    status, _, err = network.run("rehearse", network.intent(RED))
    assert (status, "lab: it ended with status 125" in err) == (1, True)


def test_a_folder_without_a_lab_is_reported(network: Network, tmp_path: Path) -> None:
    status, _, err = network.run("rehearse", "--lab", str(tmp_path), network.intent(RED))
    assert (status, "name the source tree of srv6mgr with --lab" in err) == (2, True)


def test_routers_without_a_service_are_reported(network: Network, lab: Lab) -> None:
    status, _, err = network.run("rehearse", "--router", "pe3", network.intent(RED))
    assert (status, "it has no service on these routers" in err) == (2, True)
    assert lab.plans == []
