"""The Debian packages of an earlier state of this repository, as that state builds them. Routers in
the lab upgrade from them."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT
from lab.packages import depends
from lab.problem import LabError
from lab.progress import Progress

DEBS = "/opt/previous"
# Its Redis is an instance of Debian's redis-server, its srv6mgr-yang depends on packages for
# developers, and its modules have earlier revisions. Once there are releases: the last one.
COMMIT = "db715fd73382121f19290e5b49ca02f1462bcab2"


def packages() -> Entry:
    """The folder of its packages. A build of 15 minutes."""

    def build(target: Path, progress: Progress) -> None:
        with tempfile.TemporaryDirectory(prefix="srv6mgr-previous-") as folder:
            checkout = Path(folder) / "srv6mgr"
            _git("clone", "--quiet", "--shared", "--no-checkout", str(CHECKOUT), str(checkout))
            _git("-C", str(checkout), "checkout", "--quiet", COMMIT)
            command = [str(checkout / "lab/lab"), "deb", str(target)]
            host.run_logged(command, log_file("previous"), progress, f"packages of {COMMIT:.7}")

    return Entry("previous", digest(COMMIT), 500, build, apart=True)


def dependencies() -> set[str]:
    """Names of the packages that they depend on."""
    return depends(_git("-C", str(CHECKOUT), "show", f"{COMMIT}:packaging/deb/debian/control"))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(
            f"commit {COMMIT:.7}", done.stderr.strip(), "use a clone with the whole history"
        )
    return done.stdout
