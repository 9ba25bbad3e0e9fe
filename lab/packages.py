"""The Debian packages: built in a clean root, from wheels fetched beforehand."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lab import cache, host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.problem import LabError
from lab.progress import Progress

DEBIAN = CHECKOUT / "packaging/deb/debian"
REQUIREMENTS = CHECKOUT / "packaging/deb/requirements.txt"
BUILD = CHECKOUT / "packaging/deb/build.sh"
# Of the source package: folders and files of the checkout.
SOURCES = (
    "docs/install.md", "docs/howto", "docs/man", "docs/tutorial",
    "netconfd", "orchagent", "pyproject.toml", "redis-schema", "srv6mgrd", "srv6net", "yang",
    "packaging/deb/debian", "packaging/deb/requirements.txt",
    "examples", "frr-patches", "lab", "requirements", "tests",
)  # fmt: skip
# Documentation, and what srv6mgr-tests alone has: the lab has them as they are now.
TESTING = (
    "packaging/deb/debian/tests", "docs/install.md", "docs/howto", "docs/tutorial", "examples",
    "frr-patches", "lab", "requirements", "tests",
)  # fmt: skip
FRESH, DEBS = "/opt/fresh", "/opt/debs"
# Of the files that a build of packages leaves (dpkg-buildpackage(1)).
SUFFIXES = frozenset({".deb", ".dsc", ".changes", ".buildinfo", ".xz"})
# A Debian as its installer leaves it, as far as a router needs it, and the library that no field of
# debian/control names: dpkg-shlibdeps finds it in srv6-netconfd.
BASE = (
    "systemd-sysv", "dbus", "apt", "iproute2", "iputils-ping", "procps", "kmod", "nftables", "jq",
    "zsh", "fish", "libnetconf2-4",
)  # fmt: skip
FETCH = """set -e
python3 -m pip download --quiet --no-deps --no-build-isolation --require-hashes \\
    --dest "$1" --requirement "$2"
"""


def build_root() -> Entry:
    """Debian with what the packages are built and judged with, and nothing else."""
    wanted = [*build_depends((DEBIAN / "control").read_text()), "lintian"]

    def build(target: Path, progress: Progress) -> None:
        rootfs.bootstrap(target, "debroot", wanted, progress, variant="buildd")

    key = digest(rootfs.SUITE, rootfs.PREFERENCES, *rootfs.DPKG_OPTIONS, *wanted)
    return Entry("debroot", key, 1500, build)


def build_depends(control: str) -> list[str]:
    """Names of the packages in Build-Depends, without debhelper's compatibility level."""
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)
    assert field is not None, "debian/control has no Build-Depends"
    names = re.findall(r"^ ([a-z0-9.+-]+)", field[1], re.M)
    return ["debhelper" if name == "debhelper-compat" else name for name in names]


def fresh_root(others: Iterable[str] = ()) -> Entry:
    """A Debian to install the packages in: with systemd, and with their dependencies and the other
    packages named, as the lab has no network to fetch them from."""
    wanted = [*BASE, *sorted(depends((DEBIAN / "control").read_text()) | set(others))]

    def build(target: Path, progress: Progress) -> None:
        rootfs.bootstrap(target, "fresh", wanted, progress)

    return Entry("fresh", digest(rootfs.SUITE, rootfs.PREFERENCES, *wanted), 600, build)


def depends(control: str) -> set[str]:
    """Names of what the binary packages depend on or recommend, themselves left out."""
    fields = re.findall(r"^(?:Depends|Recommends|Suggests):\n((?: .*\n)+)", control, re.M)
    named = {name for text in fields for name in re.findall(r"^ ([a-z0-9.+-]+)", text, re.M)}
    return named - set(re.findall(r"^Package: (.*)", control, re.M))


def built(progress: Progress, *, but: Sequence[str] = ()) -> Path:
    """The folder of the packages, built first when it is not there; what is below ``but`` may be of
    an earlier state, and lintian need not have seen them."""
    debian = build_root()
    root = debian.path / "root"
    fetched = wheels(root)
    whole = debs(root, fetched.path)
    wanted = whole if whole.path.is_dir() else debs(root, fetched.path, but)
    return cache.ensure_all([debian, fetched, wanted], progress)[-1]


def copy_to(out: Path, debs: Sequence[Path]) -> list[Path]:
    """Copy packages and their sources to a folder, in the place of others of the same names and of
    any version. Other files of the folder stay."""
    cache.make_folder(out, "name another folder")
    names = {_name(deb) for deb in debs}
    for old in out.iterdir():
        if old.is_file() and old.suffix in SUFFIXES and _name(old) in names:
            old.unlink()
    return [Path(shutil.copy(deb, out)) for deb in debs]


def _name(file: Path) -> str:
    """The package of ``NAME_VERSION_ARCHITECTURE.deb`` or ``NAME_VERSION.dsc``."""
    return file.name.partition("_")[0]


def compare_with_another_build(made: Path, progress: Progress) -> None:
    """Build in another folder and at another time; LabError names the packages that differ."""
    root = cache.ensure(build_root(), progress) / "root"
    # Not in the cache, whose unfinished folders another build takes away (cache._sweep).
    with tempfile.TemporaryDirectory(prefix="srv6mgr-debs-") as folder:
        again = Path(folder)
        again.chmod(0o755)
        with progress.step("second build"):
            fetched = cache.ensure(wheels(root), progress)
            make(root, fetched, again, progress, "/tmp/else/where", judged=False)
        differ = [
            deb.name
            for deb in sorted(made.glob("*.deb"))
            if deb.read_bytes() != (again / deb.name).read_bytes()
        ]
    if differ:
        raise LabError("second build", f"{', '.join(differ)}: not the same bytes")


def wheels(root: Path) -> Entry:
    """What Debian lacks in the needed versions, each file with the hash that was written down."""

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("wheels", target, "/wheels")], source="overlay")
        command = ["sh", "-c", FETCH, "sh", "/wheels", "/src/packaging/deb/requirements.txt"]
        host.run_logged(
            inside.argv(command), log_file("wheels"), progress, "wheels",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry("wheels", digest(root.parent.name, FETCH, REQUIREMENTS.read_bytes()), 100, build)


def debs(root: Path, fetched: Path, but: Sequence[str] = ()) -> Entry:
    """The packages, named by a hash of all that they are built from but what is below ``but``."""
    files = sorted(path for path in source_files() if not any(map(path.is_relative_to, but)))
    contents = [part for path in files for part in (str(path), (CHECKOUT / path).read_bytes())]
    key = digest(root.parent.name, fetched.name, BUILD.read_bytes(), *contents)

    def build(target: Path, progress: Progress) -> None:
        make(root, fetched, target, progress, judged=not but)

    return Entry("debs", key, 500, build)


def make(
    root: Path, fetched: Path, target: Path, progress: Progress, *options: str, judged: bool = True
) -> None:
    """Build into target. Without a network: what a package needs is in the root or in fetched."""
    parts = [Part("wheels", fetched, "/wheels"), Part("debs", target, "/debs")]
    said = {"JUDGED": "yes" if judged else "no"}
    inside = Enclosure(root, parts, source="overlay", network="none", environment=said)
    command = ["sh", "/src/packaging/deb/build.sh", "/debs", *options]
    names = "".join(f"{name}\n" for name in sorted(map(str, source_files())))
    (target / "sources").write_text(names)
    try:
        host.run_logged(
            inside.argv(command), log_file("debs"), progress, "Debian packages",
            environment=inside.variables(),
        )  # fmt: skip
    finally:
        (target / "sources").unlink(missing_ok=True)


def source_files() -> Iterator[Path]:
    """Files below SOURCES that git has, or would take; relative to the checkout."""
    if shutil.which("git") is None:
        raise LabError("git", "is missing, and lists the sources of the packages", "install git")
    listed = subprocess.run(
        ["git", "-C", str(CHECKOUT), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard", "--", *SOURCES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        raise LabError(str(CHECKOUT), listed.stderr.strip(), "build packages from a git clone")
    for name in listed.stdout.split("\0"):
        if name and (CHECKOUT / name).is_file():
            yield Path(name)
