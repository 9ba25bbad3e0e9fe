"""A bare Debian 13 installs srv6mgr from the repository with apt, and has nothing that only a build
needs.

On the host, as root: ``make nightly``. The packages of Debian come from its mirror.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import cache, packages, repository, rootfs
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress
from tests.command_blocks import indented_block
from tests.repository.server import Repository, served

# Daemons of packages are not to start here, which has no network of its own.
INSTALL = """set -e
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
cd /repository-client
export DEBIAN_FRONTEND=noninteractive
echo 'Dpkg::Options { "--force-unsafe-io"; }; Dpkg::Use-Pty "0"; APT::Sandbox::User "root";
    quiet "1"; APT::Get::Assume-Yes "true"; APT::Update::Error-Mode "any";
    Acquire::http::Proxy::127.0.0.1 "DIRECT";' >/etc/apt/apt.conf.d/99test
[ "$1" = install ] || { cp srv6mgr.sources /etc/apt/sources.list.d/; apt-get update; exit 0; }
eval "$2"
{
    echo '{'
    dpkg-query -W -f '"${Package}": "${Version}",\\n'
    echo '"": ""}'
} >/repository-client/installed.json
sysrepoctl --list >/repository-client/modules
srv6ctl --help >/repository-client/help
readlink -f /usr/lib/srv6mgr/redis-server >/repository-client/redis
find /usr/share/doc/srv6mgr/ -type f >/repository-client/docs
apt-get -qy purge 'srv6mgr*'
find / -xdev \\( -path /proc -o -path /src -o -path /sys -o -path /repository-client \\
    -o -path /opt -o -path /var/cache/apt -o -path /var/lib/apt -o -path /etc/apt \\) -prune \\
    -o \\( -name '*srv6*' -o -name 'gnmid*' \\) -print >/repository-client/left
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """The repository, served."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder = tmp_path_factory.mktemp("repository")
    made = Repository(folder)
    with served(made):
        repository.make(
            packages.built(Progress(), but=packages.TESTING), folder, made.url, Progress()
        )
        yield made


def run(made: Repository, client: Path, what: str) -> subprocess.CompletedProcess[str]:
    """apt-get in a bare Debian, with what it leaves in ``client``."""
    root = cache.ensure(rootfs.plain_entry(), Progress()) / "root"
    (client / "srv6mgr.sources").write_bytes((made.folder / "srv6mgr.sources").read_bytes())
    printed = indented_block((CHECKOUT / "docs/install.md").read_text(), "cp srv6mgr.sources")
    inside = Enclosure(root, [Part("client", client, "/repository-client")], source="overlay")
    return subprocess.run(
        inside.argv(["sh", "-c", INSTALL, "sh", what, printed]), env=inside.variables(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def client(made: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is found in the bare Debian after the commands of docs/install.md, as printed."""
    folder = tmp_path_factory.mktemp("client")
    done = run(made, folder, "install")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "WARNING" not in done.stdout
    return folder


def test_apt_fetches_indexes_by_hash(made: Repository, client: Path) -> None:
    assert any("/by-hash/SHA" in path for path in made.requested)


def test_a_router_gets_nothing_to_build_with(client: Path) -> None:
    installed = json.loads((client / "installed.json").read_text())
    assert installed["srv6mgr"] == installed["srv6mgr-yang"]
    tools = re.compile(r".*-dev|(gcc|g\+\+|cpp|clang|llvm)(-\d+)?|binutils|make")
    building = [name for name in installed if tools.fullmatch(name)]
    assert building == []


def test_no_redis_but_that_of_srv6mgr(client: Path) -> None:
    assert "redis-server" not in json.loads((client / "installed.json").read_text())
    assert (client / "redis").read_text().strip() == "/usr/bin/redis-check-rdb"


def test_the_model_is_in_sysrepo(client: Path) -> None:
    modules = (client / "modules").read_text()
    assert all(name in modules for name in ("srv6mgr-srv6 ", "ietf-alarms ", "ietf-netconf-nmda "))


def test_examples_and_tutorial_are_installed(client: Path) -> None:
    found = (client / "docs").read_text()
    for name in ("examples/l3vpn/pe1.json", "tutorial/first-vpn.md", "install.md", "copyright"):
        assert f"/usr/share/doc/srv6mgr/{name}\n" in found


def test_the_command_line_answers(client: Path) -> None:
    assert "doctor" in (client / "help").read_text()


def test_a_purge_leaves_nothing(client: Path) -> None:
    assert (client / "left").read_text() == ""


def test_a_forged_index_is_rejected(made: Repository, tmp_path: Path) -> None:
    path = "/dists/trixie/InRelease"
    made.forged[path] = (made.folder / path[1:]).read_bytes().replace(b"srv6mgr", b"srv6mrg")
    try:
        done = run(made, tmp_path, "update")
    finally:
        made.forged.clear()
    assert done.returncode != 0
    assert "signature" in done.stdout.lower() or "not signed" in done.stdout, done.stdout
