"""Settings files: what is wrong is named, with its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from srv6mgrd.settings import Settings, SettingsError, load


def test_defaults(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.touch()
    assert load(empty) == Settings()
    assert Settings().redis().where == "/run/redis/redis.sock"


def test_redis_over_tls_with_a_password(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    file = tmp_path / "s.toml"
    file.write_text(
        f'redis_socket = ""\nredis_host = "db"\nredis_username = "srv6mgrd"\nredis_tls = true\n'
        f'redis_password_file = "{tmp_path}/password"\nredis_tls_ca = "/ca.pem"\n'
    )
    found = load(file)
    redis = found.redis()
    assert (redis.where, redis.username, redis.password) == ("db:6379", "srv6mgrd", "secret")
    assert (redis.tls, redis.tls_ca, redis.tls_key) == (True, "/ca.pem", None)
    assert "secret" not in f"{redis!r}{found!r}"


def test_no_redis(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('redis_socket = ""\n')
    assert not load(file).has_redis


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('mode = "hardware"', "mode = 'hardware' is unknown; write one of standalone, sonic"),
        ("colour = 1", "colour is unknown; known are compare_interval"),
        ("redis_port = true", "redis_port = True is no int; correct it"),
        ("redis_tls = 1", "redis_tls = 1 is no bool; correct it"),
        ("redis_port", "correct this line"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        load(file)
    assert words in str(error.value)


def test_a_password_file_that_is_absent() -> None:
    with pytest.raises(SettingsError, match="can't be read"):
        Settings(redis_password_file="/nowhere").redis()
