"""Settings and credentials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from srv6mgrd.gnmi.access import Access, certified, hash_password
from srv6mgrd.gnmi.config import Config, load, parse
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.settings import SettingsError


def test_defaults_are_loopback_with_tls() -> None:
    assert Config().listen == ("127.0.0.1:9339", "[::1]:9339")
    assert Config().plaintext == ()


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "gnmid.toml"
    assert load(None, file) == Config()
    with pytest.raises(SettingsError, match="absent"):
        load(file)
    file.write_text('listen = ["[::1]:57400"]\ncounter_interval = 2\n')
    assert load(file).listen == ("[::1]:57400",)
    file.write_text("listen = ")
    with pytest.raises(SettingsError, match=r"gnmid\.toml"):
        load(file)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"lisen": []}, "lisen is unknown"),
        ({"listen": "127.0.0.1:9339"}, "listen can't be"),
        ({"counter_interval": 0}, "counter_interval can't be"),
        ({"certificate": "/x"}, "belong together"),
        ({"plaintext": ["192.0.2.1:9339"]}, "no UNIX socket or loopback"),
        ({"plaintext": ["[::]:9339"]}, "no UNIX socket or loopback"),
        ({"listen": ["0.0.0.0:9339"]}, "without credentials"),
        ({"listen": ["[2001:db8::1]:9339"]}, "without credentials"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        parse(settings)


@pytest.mark.parametrize("more", [{"client_ca": "/ca"}, {"anonymous": True}, {"users": {"a": "b"}}])
def test_a_network_needs_credentials(more: dict[str, Any]) -> None:
    assert parse({"listen": ["[::]:9339"], **more}).listen == ("[::]:9339",)


def refused(access: Access, *metadata: tuple[str, str]) -> grpc.StatusCode:
    with pytest.raises(RpcError) as e:
        access.check(metadata)
    return e.value.code


def test_credentials() -> None:
    stored = hash_password("secret")
    assert "secret" not in stored
    name, right, wrong = ("username", "alice"), ("password", "secret"), ("password", "secre")
    access = Access({"alice": stored}, required=True)
    for _ in range(2):
        assert access.check((name, right)) == "alice"
        assert refused(access, name, wrong) is grpc.StatusCode.UNAUTHENTICATED
    assert refused(access, ("username", "bob"), right) is grpc.StatusCode.UNAUTHENTICATED
    assert refused(access, name) is grpc.StatusCode.PERMISSION_DENIED
    assert refused(access) is grpc.StatusCode.UNAUTHENTICATED
    assert refused(Access({"alice": "plain"}, required=True), name, right) is (
        grpc.StatusCode.UNAUTHENTICATED
    )
    relaxed = Access({"alice": stored}, required=False)
    assert relaxed.check(()) is None
    assert refused(relaxed, name) is grpc.StatusCode.PERMISSION_DENIED
    assert refused(relaxed, name, wrong) is grpc.StatusCode.UNAUTHENTICATED


def test_a_certificate_names_its_client() -> None:
    access = Access({}, required=False, anonymous="guest")
    assert access.check((), "alice") == "alice"
    assert access.check((("username", "alice"),), "alice") == "alice"
    assert access.check(()) == "guest"
    with pytest.raises(RpcError) as e:
        access.check((("username", "bob"),), "alice")
    assert e.value.code is grpc.StatusCode.PERMISSION_DENIED
    assert certified({"x509_common_name": [b"", b"alice"]}) == "alice"
    assert certified({"transport_security_type": [b"ssl"]}) is None
