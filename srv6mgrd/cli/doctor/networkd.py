"""Whether systemd-networkd leaves routes and rules of others alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.cli.doctor.finding import Finding, ok, warn

# systemd.syntax(7): of files with one name the first folder's counts; networkd.conf(5).
_FOLDERS = ("etc", "run", "usr/local/lib", "usr/lib")
_SETTINGS = ("ManageForeignRoutes", "ManageForeignRoutingPolicyRules")
_OFF = {"no", "false", "off", "0", "n", "f"}
_DROP_IN = "/etc/systemd/networkd.conf.d/srv6mgr.conf"


def networkd(root: Path = Path("/")) -> Iterator[Finding]:
    """It does not run, or its configuration leaves foreign routes alone."""
    if not (root / "run/systemd/netif/state").exists():
        yield ok("networkd", "systemd-networkd does not run")
        return
    settings = _settings(root)
    grabbing = [s for s in _SETTINGS if settings.get(s.lower(), "yes").lower() not in _OFF]
    if not grabbing:
        yield ok("networkd", "systemd-networkd leaves foreign routes and rules alone")
        return
    yield warn(
        "networkd",
        f"systemd-networkd removes routes and rules of others ({' and '.join(grabbing)} is on)",
        f"put [Network] with {', '.join(f'{s}=no' for s in grabbing)} into {_DROP_IN} and restart"
        " systemd-networkd",
    )


def _settings(root: Path) -> dict[str, str]:
    """Of section [Network], by lower-case name: the main file, then drop-ins by name."""
    main = [root / folder / "systemd/networkd.conf" for folder in _FOLDERS]
    files = [file for file in main if file.exists()][:1]
    drop_ins: dict[str, Path] = {}
    for folder in _FOLDERS:
        for file in (root / folder / "systemd/networkd.conf.d").glob("*.conf"):
            drop_ins.setdefault(file.name, file)
    files += [file for _, file in sorted(drop_ins.items())]
    found: dict[str, str] = {}
    for file in files:
        section = ""
        for line in map(str.strip, file.read_text(errors="replace").splitlines()):
            if line.startswith("["):
                section = line
            elif section == "[Network]" and "=" in line and line[0] not in "#;":
                name, _, value = line.partition("=")
                found[name.strip().lower()] = value.strip()
    return found
