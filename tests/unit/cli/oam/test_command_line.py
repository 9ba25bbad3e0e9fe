"""How ping and trace end when they cannot begin."""

import errno

import pytest

from srv6mgrd.cli.main import main
from srv6mgrd.cli.oam import command_line


@pytest.mark.parametrize("command", ["ping", "trace"])
def test_without_rights(monkeypatch, capsys, command):
    def denied(*vrfs):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(command_line, "RawSockets", denied)
    monkeypatch.setattr("sys.argv", ["srv6ctl", command, "fcbb:0:2::"])
    assert main() == 2
    assert "raw sockets can't be opened: Operation not permitted; run it as root" in (
        capsys.readouterr().err
    )
