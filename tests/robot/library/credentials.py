"""Passwords and certificates that clients of gNMI show to a router, good and bad ones."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from tests.contract.certificates import Authority, Certificate
from tests.robot.library.access import over_tls, rejected
from tests.robot.library.network import node, router

# Of the node's.
_FOLDER = Path("/run/srv6mgr-credentials")
_SETTINGS = "/etc/srv6mgr/gnmid.toml"
# Seconds in which revoked certificates are rejected, on a machine that does other work.
_REVOKED = 10.0
# Seconds that a right password may take beside guesses.
_ANSWERED = 3.0


@library(scope="SUITE", auto_keywords=True)
class Credentials:
    """What srv6-gnmid is set to accept, and what it makes of clients."""

    def __init__(self) -> None:
        self._authority: Authority | None = None
        self._shown: dict[str, Certificate] = {}
        self._before: dict[str, str | None] = {}

    def passwords_are_asked_for(self, name: str, **passwords: str) -> None:
        """Of these users, by srv6-gnmid itself."""
        users = "".join(f'{user} = "{hash_password(text)}"\n' for user, text in passwords.items())
        self._configure(name, f"[users]\n{users}")

    def certificates_are_asked_for(self, name: str, *users: str) -> None:
        """Of an authority of the test's, which signs one for each user and one without a name."""
        place = node(name).path(str(_FOLDER))
        place.mkdir(exist_ok=True)
        authority = self._authority = Authority(place, "clients")
        self._shown = {user: authority.sign(user) for user in users}
        self._shown["nobody"] = authority.sign("", file="nobody")
        server = authority.server()
        self._configure(
            name,
            f'certificate = "{_there(server.file)}"\nkey = "{_there(server.key)}"\n'
            f'client_ca = "{_there(authority.certificate.file)}"\n'
            f'crl = "{_there(authority.revoke())}"\n',
        )

    def credentials_are_as_before(self, name: str) -> None:
        """Undo what this suite has configured."""
        shutil.rmtree(node(name).path(str(_FOLDER)), ignore_errors=True)
        before = self._before.pop(name)
        if before is None:
            node(name).path(_SETTINGS).unlink()
        else:
            node(name).write_file(_SETTINGS, before)
        router(name).restart("srv6-gnmid")

    def certificate_names(self, name: str, user: str) -> None:
        """Its user is known, and may not write."""
        self._tries(name, user, "PERMISSION_DENIED")

    def certificate_is_rejected(self, name: str, user: str) -> None:
        """Its client is nobody."""
        self._tries(name, user, "UNAUTHENTICATED")

    def revoke_certificate(self, name: str, user: str) -> None:
        """It is rejected soon, also on a connection that is open."""
        assert self._authority is not None
        client = self._client(name, user)
        try:
            rejected(client, "PERMISSION_DENIED")
            self._authority.revoke(self._shown[user])

            def is_out() -> bool:
                try:
                    rejected(client, "UNAUTHENTICATED")
                except AssertionError:
                    return False
                return True

            wait_until(is_out, f"the certificate of {user} is rejected", _REVOKED)
        finally:
            client.end()

    def guesses_delay_nobody(self, name: str, user: str, password: str, guesses: int = 20) -> None:
        """Wrong passwords of another user come side by side, and a right one is known at once."""
        passed = {"username": user, "password": password}
        wrong = {"username": f"not-{user}", "password": "a guess"}

        def guess() -> None:
            client = over_tls(name, **wrong)
            try:
                # Beyond some it has to wait.
                rejected(client, "UNAUTHENTICATED", "RESOURCE_EXHAUSTED")
            finally:
                client.end()

        client = over_tls(name, **passed)
        try:
            rejected(client, "PERMISSION_DENIED")
            with ThreadPoolExecutor(4) as pool:
                guessing = [pool.submit(guess) for _ in range(int(guesses))]
                begun = time.monotonic()
                rejected(client, "PERMISSION_DENIED")
                took = time.monotonic() - begun
                for one in guessing:
                    one.result()
        finally:
            client.end()
        if took > _ANSWERED:
            raise AssertionError(f"{name}: {user} waited {took:.1f} s beside guesses")

    def _tries(self, name: str, user: str, code: str) -> None:
        client = self._client(name, user)
        try:
            rejected(client, code)
        finally:
            client.end()

    def _client(self, name: str, user: str) -> Any:
        assert self._authority is not None
        shown = self._shown[user]
        options: Mapping[str, str] = {
            "path_root": _there(self._authority.certificate.file),
            "path_cert": _there(shown.file),
            "path_key": _there(shown.key),
        }
        return over_tls(name, skip_verify=False, **options)

    def _configure(self, name: str, settings: str) -> None:
        if name not in self._before:
            at = node(name).path(_SETTINGS)
            self._before[name] = at.read_text() if at.exists() else None
        node(name).write_file(_SETTINGS, settings)
        router(name).restart("srv6-gnmid")


def _there(file: Path) -> str:
    """Where the node has it."""
    return str(_FOLDER / file.name)
