"""The router of all tests in this folder, and the repository that it installs from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import cache, packages, repository
from lab.enclosure import CHECKOUT
from lab.progress import Progress
from lab.vm import image, machine
from tests.repository.server import Repository, served

OUT = Path(os.environ.get("LAB_OUT", CHECKOUT / "build/vm"))


class Served:
    """The repository as the virtual machine sees it, with the packages of this state or others."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self.url = repo.url.replace("127.0.0.1", image.GATEWAY)
        self.debs = packages.built(Progress(), but=packages.TESTING)
        self.offer(self.debs)

    def offer(self, debs: Path) -> None:
        """Have it hold these packages."""
        repository.make(debs, self._repo.folder, self.url, Progress())

    def sources(self) -> str:
        """What the router is given."""
        return (self._repo.folder / f"{repository.NAME}.sources").read_text()


@pytest.fixture(scope="session")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    repo = Repository(tmp_path_factory.mktemp("repository"))
    with served(repo):
        yield Served(repo)


@pytest.fixture(scope="session")
def router(offered: Served) -> Iterator[machine.VirtualMachine]:
    made = cache.ensure(image.entry(), Progress())
    shutil.rmtree(OUT, ignore_errors=True)
    with machine.started(made, OUT) as running:
        yield running
        (OUT / "journal.log").write_text(
            running.run("journalctl --no-pager", check=False, timeout=300).stdout
        )
