"""The YANG modules, installed once into a repository that every router node starts from."""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress

YANG = CHECKOUT / "yang"
LIST = YANG / "install.txt"
SCRIPT = Path(__file__).with_name("sysrepo-install.sh")
STANDARD = "/opt/yang"
# Standard modules that only another service's package has.
FETCH = """set -e
cd /tmp
apt-get -q update
apt-get -q -o APT::Sandbox::User=root download libyuma-base
dpkg-deb --extract libyuma-base_*.deb extracted
for name in ietf-netconf-nmda ietf-alarms; do
    cp extracted/usr/share/yuma/modules/ietf/$name@*.yang "$0"
done
"""


def standard(root: Path) -> Entry:
    """/opt/yang: modules of RFCs that neither sysrepo nor libnetconf2 brings."""

    def build(target: Path, progress: Progress) -> None:
        _run(root, [Part("yang", target, STANDARD)], ["sh", "-c", FETCH, STANDARD], progress)

    return Entry("yang", digest(root.parent.name, FETCH), 50, build)


def entry(root: Path, modules: Path) -> Entry:
    """/opt/sysrepo: the repository; modules is the folder of `standard`."""
    ours = sorted(YANG.rglob("*.yang"))
    contents = [text for path in ours for text in (path.name, path.read_bytes())]
    key = digest(root.parent.name, modules.name, LIST.read_bytes(), SCRIPT.read_bytes(), *contents)

    def build(target: Path, progress: Progress) -> None:
        parts = [Part("sysrepo", target, "/opt/sysrepo"), Part("yang", modules, STANDARD)]
        _run(root, parts, ["sh", "/src/lab/sysrepo-install.sh"], progress)

    return Entry("sysrepo", key, 100, build)


def _run(root: Path, parts: list[Part], command: list[str], progress: Progress) -> None:
    inside = Enclosure(root, parts, source="overlay")
    host.run_logged(
        inside.argv(command), log_file(parts[0].name), progress, "YANG modules",
        environment=inside.variables(),
    )  # fmt: skip
