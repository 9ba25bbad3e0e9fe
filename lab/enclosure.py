"""Programs in namespaces of their own on the host, inside the lab's root or beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab import host
from lab.cache import cache_dir, make_folder

CHECKOUT = Path(__file__).resolve().parent.parent
GUEST_PATH = ":".join(
    ("/src/lab/guest/bin", "/opt/srv6mgr/bin", "/usr/local/sbin", "/usr/local/bin",
     "/usr/sbin", "/usr/bin", "/sbin", "/bin")
)  # fmt: skip
GUEST_CA = "/etc/ssl/certs/ca-certificates.crt"
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
# Their values are paths of the host; the guest has the same bundle at its own place.
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of the host and where the lab's root shows it."""

    name: str
    folder: Path
    mount_point: str


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The lab's root, assembled for one command on the host's own kernel."""

    root: Path
    parts: Sequence[Part] = ()
    source: str = "bind"
    network: str = "host"
    environment: Mapping[str, str] = field(default_factory=dict)

    def argv(self, command: Sequence[str]) -> list[str]:
        variables = {**guest_environment(), **pip_environment(), **self.environment}
        inside = ["env", "-i", *(f"{key}={value}" for key, value in variables.items()), *command]
        return private_argv(
            {"root": self.root, "src": CHECKOUT, **{p.name: p.folder for p in self.parts}},
            ["sh", str(CHECKOUT / "lab/guest/assemble.sh"), *inside],
            own_network=self.network != "host",
        )

    def variables(self) -> dict[str, str]:
        """The environment of what `argv` gives."""
        bundle = host.ca_bundle()
        return {
            **os.environ,
            "LAB_ATTACH": "none" if self.root == Path("/") else "bind",
            "LAB_SRC": self.source,
            "LAB_NET": self.network,
            "LAB_CA": str(bundle) if bundle else "",
            "LAB_PARTS": parts_variable(self.parts),
        }

    def call(self, command: Sequence[str]) -> int:
        """Run with this process's own terminal and streams; the exit status."""
        child = subprocess.Popen(self.argv(command), env=self.variables())
        while True:
            try:
                status = child.wait()
            except KeyboardInterrupt:  # the child got the signal, too
                continue
            return status if status >= 0 else 128 - status


def private_argv(
    links: Mapping[str, Path], command: Sequence[str], own_network: bool = False
) -> list[str]:
    """A command in mount and pid namespaces that die, with all in them, with this process."""
    base = make_folder(cache_dir() / "mnt")
    network = ["--net", "--uts", "--ipc"] if own_network else []
    return [
        *host.DIE_WITH_PARENT,
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        *network,
        "--",
        "sh",
        str(CHECKOUT / "lab/launch.sh"),
        str(base),
        *(f"{name}={path}" for name, path in links.items()),
        "--",
        *command,
    ]


def parts_variable(parts: Sequence[Part]) -> str:
    return " ".join(f"{part.name}:{part.mount_point}" for part in parts)


def guest_environment() -> dict[str, str]:
    """What every program in the lab starts with, whatever the host's environment is."""
    return {
        "PATH": GUEST_PATH,
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb"),
        "PYTHONPATH": "/src",
        "LAB_OUT": "/lab/out",
    }


def pip_environment() -> dict[str, str]:
    """The host's way to the package index, as it is seen from inside."""
    passed = {
        key: value
        for key, value in os.environ.items()
        if (key.startswith("PIP_") and key != "PIP_FIND_LINKS") or key in PASSED_ON
    }
    return passed | dict.fromkeys(CA_VARIABLES, GUEST_CA)
