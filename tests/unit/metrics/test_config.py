"""Settings of srv6-metricsd."""

import pytest

from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.metrics.config import parse
from srv6mgrd.settings import SettingsError


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"plaintext": ["0.0.0.0:9439"]}, "is no UNIX socket or loopback address"),
        ({"users": {"a": "plain"}}, "a has no hash of a password"),
        ({"readers": ["a"]}, "set client_ca"),
        ({"crl": "x"}, "crl needs client_ca"),
        ({"key": "x"}, "certificate and key belong together"),
        ({"certificate_names": ["x"]}, "x is unknown"),
        ({"unknown": 1}, "unknown is unknown; known are listen"),
        ({"ipfix_collector": "collector"}, "collector is no host:port"),
        ({"ipfix_domain": 1 << 32}, "it has 32 bits"),
        ({"listen": []}, "name an address to serve"),
        ({"max_connections": 0}, "max_connections can't be 0"),
    ],
)
def test_bad_settings_are_rejected(settings, text):
    with pytest.raises(SettingsError, match=text):
        parse(settings)


def test_by_default_nobody_reads_and_only_this_machine_reaches_it():
    config = parse({})

    assert config.listen == ("127.0.0.1:9439", "[::1]:9439")
    assert (config.plaintext, config.users, config.readers, config.anonymous) == ((), {}, (), False)


def test_users_have_hashes():
    stored = hash_password("x")

    assert parse({"users": {"a": stored}}).users == {"a": stored}
