"""database_config.json of SONiC, of one namespace or several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.redis.sonic_database import DatabaseConfigError, socket_of
from srv6mgrd.redis.wire import DATABASES


def config(socket: str = "/var/run/redis/redis.sock", **changes: Any) -> dict[str, Any]:
    databases = {
        name: {"id": number, "separator": ":", "instance": "redis"}
        for name, number in {**DATABASES, "LOGLEVEL_DB": 3}.items()
    }
    for name, change in changes.items():
        databases[name] |= change
    instances = {"redis": {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": socket}}
    return {"INSTANCES": instances, "DATABASES": databases, "VERSION": "1.0"}


def test_the_socket_is_that_of_the_instance(tmp_path: Path) -> None:
    file = tmp_path / "database_config.json"
    file.write_text(json.dumps(config()))
    assert socket_of(file) == "/var/run/redis/redis.sock"


def test_a_namespace_has_a_file_of_its_own(tmp_path: Path) -> None:
    own, other = tmp_path / "redis/sonic-db", tmp_path / "redis1/sonic-db"
    for folder, socket in ((own, "/a"), (other, "/b")):
        folder.mkdir(parents=True)
        (folder / "database_config.json").write_text(json.dumps(config(socket)))
    includes = [
        {"include": "../../redis/sonic-db/database_config.json"},
        {"namespace": "asic1", "include": "../../redis1/sonic-db/database_config.json"},
    ]
    (own / "database_global.json").write_text(json.dumps({"INCLUDES": includes}))
    file = own / "database_config.json"
    assert (socket_of(file), socket_of(file, "asic1")) == ("/a", "/b")
    with pytest.raises(DatabaseConfigError, match="it has no namespace asic2; correct it"):
        socket_of(file, "asic2")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("{", "Expecting"),
        ("[]", "no JSON object"),
        ("{}", "'DATABASES' is absent"),
        (json.dumps(config(APPL_DB={"id": 9})), "APPL_DB has another number"),
        (json.dumps(config(ASIC_DB={"instance": "redis2"})), "spread over the instances"),
        (json.dumps({**config(), "INSTANCES": {}}), "no unix_socket_path"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    file = tmp_path / "database_config.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(DatabaseConfigError, match=words) as error:
        socket_of(file)
    assert str(error.value).startswith(f"{file}: ")
