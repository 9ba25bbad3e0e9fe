"""Settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.gnmi.config import Config, load, parse
from srv6mgrd.settings import SettingsError


def test_defaults_are_loopback_with_tls_and_a_socket() -> None:
    assert Config().listen == ("127.0.0.1:9339", "[::1]:9339")
    assert Config().plaintext == ("unix:/run/srv6mgr/gnmi.sock",)
    assert not Config().anonymous_user


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
        ({"certificate_names": ["san-any"]}, "san-any is unknown"),
        ({"crl": "/crl"}, "crl needs client_ca"),
        ({"users": {"alice": "pam"}}, "alice needs the setting pam"),
        ({"anonymous_user": "root"}, "can't be root"),
        ({"tunnel_servers": ["collector"], "pam": "x"}, "collector is no host:port"),
        ({"tunnel_servers": ["c:57401"], "pam": "x"}, "needs tunnel_ca"),
        ({"tunnel_servers": ["c:57401"], "tunnel_ca": "/ca"}, "c:57401 is open to a network"),
        ({"tunnel_certificate": "/x"}, "tunnel_certificate and tunnel_key belong together"),
        ({"anonymous": True}, "anonymous needs anonymous_user"),
    ],
)
def test_settings_that_are_rejected(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        parse(settings)


@pytest.mark.parametrize(
    "more",
    [
        {"client_ca": "/ca"},
        {"anonymous": True, "anonymous_user": "guest"},
        {"users": {"a": "b"}},
        {"pam": "srv6mgr"},
    ],
)
def test_a_network_needs_credentials(more: dict[str, Any]) -> None:
    assert parse({"listen": ["[::]:9339"], **more}).listen == ("[::]:9339",)
