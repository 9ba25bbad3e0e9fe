"""A signed apt repository: the packages, and those of backports that they need.

Debian 13 itself has sysrepo and libyang in too old versions. With their packages in the same
repository a router needs no other source than Debian 13 and this one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from lab import cache, host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import Enclosure, Part
from lab.problem import LabError
from lab.progress import Progress

NAME = "srv6mgr"
COMPONENT = "main"
ARCHITECTURE = "amd64"
TOOLS = {"apt-ftparchive": "apt-utils", "gpg": "gnupg"}
MEMBERS = {"dists", "pool", f"{NAME}.asc", f"{NAME}.sources"}
KEY_VARIABLE = "SIGN_KEY"
FETCH = """set -e
cd /fetched
apt-get -q update
apt-get -q -o APT::Sandbox::User=root download "$@"
"""
SOURCES = """Types: deb
URIs: {url}
Suites: {suite}
Components: {component}
Architectures: {architecture}
Signed-By:
{key}
"""


def require(out: Path, progress: Progress) -> None:
    """LabError, before anything is built, where a repository cannot be written or signed."""
    host.require_tools(TOOLS, progress)
    _free(out)
    signing_key()


def make(debs: Path, out: Path, url: str, progress: Progress) -> None:
    """Write the repository to ``out``, with ``srv6mgr.sources`` for who reaches it at ``url``."""
    host.require_tools(TOOLS, progress)
    root = cache.ensure(rootfs.entry(), progress) / "root"
    needed = cache.ensure(backports(root), progress)
    with progress.step("repository"):
        pool = emptied(out) / "pool" / COMPONENT
        pool.mkdir(parents=True)
        for package in (*debs.glob("*.deb"), *needed.glob("*.deb")):
            shutil.copy(package, pool)
        _index(out)
        home, key = signing_key()
        _sign(out, home, key)
        armored = _gpg(home, "--armor", "--export", key)
        (out / f"{NAME}.asc").write_text(armored)
        (out / f"{NAME}.sources").write_text(sources(url, armored))


def emptied(out: Path) -> Path:
    """The folder, without an earlier repository. LabError where it holds anything else."""
    _free(out)
    for entry in out.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    return out


def _free(out: Path) -> None:
    cache.make_folder(out, "name another folder")
    foreign = {entry.name for entry in out.iterdir()} - MEMBERS
    if foreign:
        raise LabError(
            str(out), f"holds {min(foreign)}, which is of no repository", "name another folder"
        )


def sources(url: str, armored: str) -> str:
    """The file for /etc/apt/sources.list.d, with the key in it (deb822, sources.list(5))."""
    key = "\n".join(f" {line or '.'}" for line in armored.strip().splitlines())
    return SOURCES.format(
        url=url, suite=rootfs.SUITE, component=COMPONENT, architecture=ARCHITECTURE, key=key
    )


def backports(root: Path) -> Entry:
    """The packages of trixie-backports that a router needs."""
    names = of_backports((root / "var/lib/dpkg/status").read_text()) if root.is_dir() else []

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("fetched", target, "/fetched")], source="overlay")
        command = ["sh", "-c", FETCH, "sh", *names]
        host.run_logged(
            inside.argv(command), log_file("backports"), progress, "packages of backports",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry("backports", digest(root.parent.name, FETCH, *names), 20, build)


def of_backports(status: str) -> list[str]:
    """Names of the installed packages of backports, those for building and for looking left out."""
    installed = re.findall(r"^Package: (\S+)\n(?:.+\n)*?Version: (\S+)", status, re.M)
    return [
        name
        for name, version in installed
        if "~bpo" in version and not name.endswith(("-dev", "-tools"))
    ]


def _index(out: Path) -> None:
    """dists/: Packages, with copies by hash, and Release."""
    folder = f"dists/{rootfs.SUITE}"
    binary = out / folder / COMPONENT / f"binary-{ARCHITECTURE}"
    binary.mkdir(parents=True)
    packages = _run(
        ["apt-ftparchive", "--arch", ARCHITECTURE, "packages", f"pool/{COMPONENT}"], out
    )
    (binary / "Packages").write_text(packages)
    _run(["xz", "--keep", "-9", "Packages"], binary)
    fields = {
        "Origin": NAME, "Label": NAME, "Suite": rootfs.SUITE, "Codename": rootfs.SUITE,
        "Architectures": ARCHITECTURE, "Components": COMPONENT,
        "Description": "Declarative SRv6 service for Debian 13",
    }  # fmt: skip
    options = [f"APT::FTPArchive::Release::{field}={value}" for field, value in fields.items()]
    options.append("APT::FTPArchive::DoByHash=true")
    words = [word for option in options for word in ("-o", option)]
    release = _run(["apt-ftparchive", *words, "release", folder], out)
    (out / folder / "Release").write_text(release)


def _sign(out: Path, home: Path | None, key: str) -> None:
    folder = out / "dists" / rootfs.SUITE
    for option, name in (("--clearsign", "InRelease"), ("--detach-sign", "Release.gpg")):
        target = str(folder / name)
        armor = ["--armor"] if option == "--detach-sign" else []
        _gpg(
            home, "--local-user", key, "--digest-algo", "SHA512", *armor,
            "--output", target, option, str(folder / "Release"),
        )  # fmt: skip


def signing_key() -> tuple[Path | None, str]:
    """A folder of GnuPG and the key: SIGN_KEY in the user's own, else one of the cache."""
    if given := os.environ.get(KEY_VARIABLE):
        if not _keys(None, given):
            raise LabError(
                f"{KEY_VARIABLE}={given}", "gpg has no such secret key",
                "name one of gpg --list-secret-keys",
            )  # fmt: skip
        return None, given
    home = cache.make_folder(cache.cache_dir() / "repository-key")
    home.chmod(0o700)
    if not _keys(home):
        _gpg(
            home, "--passphrase", "", "--quick-generate-key", f"{NAME} packages",
            "ed25519", "sign", "never",
        )  # fmt: skip
    return home, _keys(home)[0]


def _keys(home: Path | None, *names: str) -> list[str]:
    try:
        listed = _gpg(home, "--with-colons", "--list-secret-keys", *names)
    except LabError:  # the status for a key that is not there
        return []
    return re.findall(r"^fpr:+(\w+):", listed, re.M)


def _gpg(home: Path | None, *arguments: str) -> str:
    where = ["--homedir", str(home)] if home else []
    return _run(["gpg", "--batch", "--no-tty", "--quiet", "--yes", *where, *arguments])


def _run(argv: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(argv[0], done.stderr.strip() or f"failed with status {done.returncode}")
    return done.stdout
