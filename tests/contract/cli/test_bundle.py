"""``srv6ctl support-bundle`` on a node whose configuration has secrets."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.contract.cli.conftest import Ctl
from tests.contract.cli.test_secrets import document
from tests.contract.conftest import MARKER


def test_it_has_the_configuration_without_its_secrets(ctl: Ctl, tmp_path: Path) -> None:
    done = ctl.run("apply", "-", given=document(MARKER))
    assert done.status == 0, done.err
    file = tmp_path / "bundle.tar.gz"

    done = ctl.run("support-bundle", str(file))

    assert done.status == 0, done.err
    assert MARKER not in done.out + done.err
    with tarfile.open(file) as found:
        contents = {
            entry.name.partition("/")[2]: opened.read().decode()
            for entry in found
            if (opened := found.extractfile(entry)) is not None
        }
    assert [name for name, text in contents.items() if MARKER in text] == []
    assert contents["configuration/running.json"].count("(secret)") >= 4
    assert "2001:db8::2" in contents["configuration/running.json"]
    for name in ("README.txt", "state/node.json", "state/statuses.json", "state/doctor.json",
                 "kernel/rules6.txt", "versions/kernel.txt"):  # fmt: skip
        assert contents[name]


def test_it_overwrites_nothing(ctl: Ctl, tmp_path: Path) -> None:
    file = tmp_path / "there"
    file.write_text("mine")

    done = ctl.run("support-bundle", str(file))

    assert done.status == 2
    assert "exists already" in done.err
    assert file.read_text() == "mine"
