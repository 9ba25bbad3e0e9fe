"""The packages bring sysrepo's modules up to date, whatever an earlier version left there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.contract

CHECKOUT = Path(__file__).parents[3]
INSTALL = CHECKOUT / "packaging/deb/debian/install-yang"
# Modules of others that the package has a copy of.
OF_OTHERS = (
    Path("/opt/yang"), CHECKOUT / "yang/rfc5277", Path("/usr/share/yang/modules/libnetconf2"),
)  # fmt: skip
# As an earlier version had them: a module less, one with an earlier revision, a feature less.
ABSENT, OLDER, WITHOUT = "srv6mgr-accounting", "srv6mgr-proxy", ("ietf-alarms", "alarm-shelving")
LATER = '  revision 2099-01-01 {\n    description "Next.";\n  }\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The modules of the package, one with a later revision than sysrepo has."""
    monkeypatch.setenv("SYSREPO_REPOSITORY_PATH", str(tmp_path / "repository"))
    monkeypatch.setenv("SYSREPO_SHM_PREFIX", f"{tmp_path.name}_install")
    shutil.copytree("/opt/sysrepo/repository", tmp_path / "repository")
    sysrepoctl("--uninstall", ABSENT)
    sysrepoctl("--change", WITHOUT[0], "--disable-feature", WITHOUT[1])
    given = tmp_path / "modules"
    shutil.copytree(CHECKOUT / "yang", given)
    for file in (file for of_others in OF_OTHERS for file in of_others.glob("*.yang")):
        shutil.copy(file, given)
    module = given / f"{OLDER}.yang"
    text = module.read_text()
    module.write_text(text.replace("  revision ", f"{LATER}  revision ", 1))
    monkeypatch.setenv("SRV6MGR_YANG", str(given))
    yield given
    for left in Path("/dev/shm").glob(f"{os.environ['SYSREPO_SHM_PREFIX']}*"):
        left.unlink()


def sysrepoctl(*arguments: str) -> str:
    return subprocess.run(
        ["sysrepoctl", *arguments], check=True, capture_output=True, text=True
    ).stdout


def modules() -> dict[str, tuple[str, set[str]]]:
    """Revision and features of each installed module."""
    rows = [re.split(r" *\| *", line.strip()) for line in sysrepoctl("--list").splitlines()]
    return {row[0]: (row[1], set(row[6].split())) for row in rows if len(row) > 6 and "I" in row[2]}


def install(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", INSTALL, *options], check=False, capture_output=True, text=True)


def test_new_modules_revisions_and_features_come_together(folder: Path) -> None:
    assert ABSENT not in modules()
    assert WITHOUT[1] not in modules()[WITHOUT[0]][1]
    assert install("--check").returncode == 1
    done = install()
    assert done.returncode == 0, done.stderr
    found = modules()
    assert ABSENT in found
    assert found[OLDER][0] == "2099-01-01"
    assert WITHOUT[1] in found[WITHOUT[0]][1]
    assert install("--check").returncode == 0
