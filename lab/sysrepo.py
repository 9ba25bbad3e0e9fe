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


def entry(root: Path) -> Entry | None:
    """None as long as the checkout names no modules."""
    if not LIST.exists():
        return None
    modules = sorted(YANG.rglob("*.yang"))
    contents = [text for path in modules for text in (path.name, path.read_bytes())]
    key = digest(root.parent.name, LIST.read_bytes(), SCRIPT.read_bytes(), *contents)

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("sysrepo", target, "/opt/sysrepo")], source="overlay")
        command = ["sh", "/src/lab/sysrepo-install.sh"]
        host.run_logged(
            inside.argv(command), log_file("sysrepo"), progress, "YANG modules",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry("sysrepo", key, 100, build)
