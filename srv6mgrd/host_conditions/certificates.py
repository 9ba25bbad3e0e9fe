"""The certificates that northbounds present, by their settings."""

from __future__ import annotations

import os
from pathlib import Path

from srv6mgrd.host_conditions.judge import Certificate
from srv6mgrd.host_conditions.validity import not_after
from srv6mgrd.settings import SettingsError, table
from srv6mgrd.storage import read_text

_GNMI, _METRICS, _NETCONF_TLS = "srv6-gnmid", "srv6-metricsd", "srv6-netconf-tls"
_GNMI_STATE = "/var/lib/srv6mgr/gnmid"
# As daemons name the one that they make (clients.certificate_files).
_SELF_SIGNED = "selfsigned.crt"


class Certificates:
    """Reads a file again when it is another one. Used by one look at a time."""

    def __init__(self, settings: Path = Path("/etc/srv6mgr")) -> None:
        self._gnmi, self._netconf = settings / "gnmid.toml", settings / "netconf-tls.conf"
        self._metrics = settings / "srv6-metricsd.toml"
        # By file: its version, and what was read.
        self._read: dict[str, tuple[tuple[int, int], Certificate]] = {}

    def found(self) -> list[Certificate]:
        """Those that are named, and the one that srv6-gnmid made. Of what the caller may not read
        nothing is known: ``is_denied``."""
        wanted = {**self._of_gnmi(), **self._of_metrics(), **self._of_netconf()}
        read = {}
        for file, northbound in wanted.items():
            version = _version(file)
            known = self._read.get(file)
            if known is None or known[0] != version or _is_unread(known[1]):
                known = version, _certificate(file, northbound)
            read[file] = known
        self._read = read
        return [certificate for _, certificate in read.values()]

    def _of_gnmi(self) -> dict[str, str]:
        """Those that are named; for clients else the one that srv6-gnmid made, which it does not
        renew."""
        try:
            settings = table(None, self._gnmi)
        except (SettingsError, OSError):
            return {}
        named = [settings.get(name, "") for name in ("certificate", "tunnel_certificate")]
        found = {str(file): _GNMI for file in named if file}
        made = Path(str(settings.get("state_directory", _GNMI_STATE))) / _SELF_SIGNED
        if not named[0] and os.path.exists(made):
            found[str(made)] = _GNMI
        return found

    def _of_metrics(self) -> dict[str, str]:
        """The one that is named; whether srv6-metricsd is wanted at all its unit says."""
        try:
            file = table(None, self._metrics).get("certificate", "")
        except (SettingsError, OSError):
            return {}
        return {str(file): _METRICS} if file else {}

    def _of_netconf(self) -> dict[str, str]:
        """The packages name one that is absent until TLS is wanted."""
        try:
            lines = [line.split() for line in read_text(self._netconf).splitlines()]
        except (OSError, ValueError):
            return {}
        files = [words[1] for words in lines if words[:1] == ["certificate"] and len(words) > 1]
        return {file: _NETCONF_TLS for file in files[-1:] if os.path.exists(file)}


def _version(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def _is_unread(known: Certificate) -> bool:
    return bool(known.problem) or known.is_denied


def _certificate(file: str, northbound: str) -> Certificate:
    try:
        ends, made = not_after(read_text(Path(file))), Path(file).name == _SELF_SIGNED
        return Certificate(file, northbound, ends, is_self_signed=made)
    except PermissionError:
        return Certificate(file, northbound, is_denied=True)
    except OSError as error:
        return Certificate(file, northbound, problem=error.strerror or str(error))
    except ValueError as error:
        return Certificate(file, northbound, problem=str(error))
