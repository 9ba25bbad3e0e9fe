"""Settings of srv6-netconf-tls that it does not start with."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.contract.certificates import Authority
from tests.contract.netconf.conftest import SANITIZERS
from tests.contract.netconf.tls.conftest import TLS, Listener, of

FINGERPRINT = "04" + 32 * ":ab"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense 1", "nonsense: there is no such setting; see srv6-netconf-tls(8)"),
        ("listen", "listen: it has no value; add one"),
        ("listen localhost", "listen: it is no host:port; write [2001:db8::1]:6513, say"),
        ("listen ::1:6513", "listen: an IPv6 address is in brackets; "),
        ("listen 127.0.0.1:6513 more", "listen: there is more behind its value; remove that"),
        ("listen 192.0.2.1:6513", "listen 192.0.2.1:6513: Cannot assign requested address; "),
        ("certificate there.crt", "certificate: it is no absolute path; give one"),
        ("certificate /absent.crt", "certificate /absent.crt: No such file or directory; "),
        ("key /etc/hostname", "key /etc/hostname: "),
        ("client-ca /absent.crt", "client-ca /absent.crt: "),
        ("cert-to-name 04:zz specified a", "its fingerprint is not octets with colons between; "),
        ("cert-to-name 02:ab specified a", "its fingerprint does not begin with 04 (SHA-256)"),
        ("cert-to-name 04:ab specified a", "its fingerprint has not the length of its hash; "),
        (f"cert-to-name {FINGERPRINT}", "it has no map type; choose specified, "),
        (f"cert-to-name {FINGERPRINT} mine", "it has no map type; choose specified, "),
        (f"cert-to-name {FINGERPRINT} specified", "the user is missing; write it behind"),
    ],
)
def test_settings_that_are_rejected(
    listener: Listener, authority: Authority, line: str, words: str
) -> None:
    reported = _try(listener, of(authority, "common-name"), line)
    assert words in reported, reported


@pytest.mark.parametrize("absent", ["certificate", "key", "client-ca", "cert-to-name", "listen"])
def test_settings_that_are_missing(listener: Listener, authority: Authority, absent: str) -> None:
    lines = [of(authority, "common-name")] if absent != "cert-to-name" else []
    reported = _try(listener, *lines, without=absent)
    assert f"{absent} is missing; add it" in reported.replace("listen or call-home", "listen"), (
        reported
    )


def _try(listener: Listener, *lines: str, without: str = "") -> str:
    """What it says when it does not start."""
    settings = listener.settings | {"listen": f"127.0.0.1:{listener.port}"}
    keywords = {line.split()[0] for line in lines} - {"cert-to-name"} | {without}
    kept = [f"{name} {value}" for name, value in settings.items() if name not in keywords]
    file = listener.place / "bad.conf"
    file.write_text("\n".join([*kept, *lines]) + "\n")
    done = subprocess.run(
        [TLS, "--config", file],
        env={**os.environ, **SANITIZERS},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 1, done
    return done.stderr
