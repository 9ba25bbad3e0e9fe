"""The alarm list of a node, as an operator and a collector see it."""

from __future__ import annotations

import json
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library.cli import run
from tests.robot.library.network import node

# Seconds from a fault to its alarm, and from its end until that is cleared; other labs may keep all
# CPUs busy.
_PROMISED, _BUSY = 5.0, 3.0
_CERTIFICATE = "/etc/srv6mgr/test.crt"


def _active(name: str) -> list[dict[str, Any]]:
    done = run(name, "show alarms --json")
    assert not done.returncode, done.stderr
    alarms: list[dict[str, Any]] = json.loads(done.stdout)["alarms"]
    return alarms


def _named(alarms: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [a for a in alarms if a["alarm-type-id"] == f"srv6mgr-alarms:{kind}"]


@library(scope="GLOBAL", auto_keywords=True)
class Alarms:
    """Alarms are raised and cleared in time, with cause and remedy."""

    def no_alarm_is_active(self, name: str) -> None:
        wait_until(
            lambda: not _active(name), f"{name}: no alarm", _PROMISED * _BUSY,
            seen=lambda: _active(name),
        )  # fmt: skip

    def alarm_is_raised(self, name: str, kind: str, severity: str, *words: str) -> str:
        """Wait for an active alarm of a type; its number. The text has the words."""

        def raised() -> bool:
            return any(
                alarm["perceived-severity"] == severity
                and all(word in alarm["alarm-text"] for word in words)
                for alarm in _named(_active(name), kind)
            )

        wait_until(
            raised, f"{name}: {severity} {kind} {words}", _PROMISED * _BUSY,
            seen=lambda: _active(name),
        )  # fmt: skip
        (alarm,) = _named(_active(name), kind)
        return str(alarm["id"])

    def alarm_is_cleared(self, name: str, kind: str) -> None:
        wait_until(
            lambda: not _named(_active(name), kind), f"{name}: {kind} is cleared",
            _PROMISED * _BUSY, seen=lambda: _active(name),
        )  # fmt: skip

    def alarm_has_state(self, name: str, number: str, state: str) -> None:
        """What operators said of it, the latest first."""

        def said() -> list[str]:
            (alarm,) = (a for a in _active(name) if a["id"] == number)
            return [change["state"] for change in alarm.get("operator-state-change", [])]

        wait_until(lambda: said()[:1] == [state], f"{name}: {number} is {state}", 10, seen=said)

    def make_certificate(self, name: str, days: int) -> None:
        """Give srv6-gnmid a certificate that ends in so many days, or ended that long ago."""
        begin, end = f"{min(days, 0) - 1:+d} days", f"{days:+d} days"
        node(name).run(
            [
                "sh", "-c",
                "mkdir -p /etc/srv6mgr && cd /etc/srv6mgr &&"
                " openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
                f" -keyout test.key -out fresh.crt -subj /CN={name}"
                f" -not_before \"$(date -u -d '{begin}' +%y%m%d%H%M%SZ)\""
                f" -not_after \"$(date -u -d '{end}' +%y%m%d%H%M%SZ)\""
                f" 2>/dev/null && mv fresh.crt {_CERTIFICATE} &&"
                f" printf 'certificate = \"{_CERTIFICATE}\"\\nkey = \"/etc/srv6mgr/test.key\"\\n'"
                " >gnmid.toml",
            ]
        )  # fmt: skip
