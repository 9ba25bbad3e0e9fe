"""How srv6-configdbd ends when it can't begin."""

import sys

import pytest

from srv6mgrd.configdb import daemon
from srv6mgrd.datastore.connection import DeniedError


def test_sysrepo_that_lets_nobody_in_is_reported_in_a_line(tmp_path, monkeypatch):
    settings = tmp_path / "settings.toml"
    settings.write_text(f'runtime_directory = "{tmp_path}"\n')
    monkeypatch.setattr(sys, "argv", ["srv6-configdbd", "--config", str(settings)])

    async def denied(_):
        raise DeniedError("access: denied; ask for a NACM rule")

    monkeypatch.setattr(daemon, "_run", denied)

    with pytest.raises(SystemExit) as ended:
        daemon.main()

    assert ended.value.code == "srv6-configdbd: access: denied; ask for a NACM rule"
