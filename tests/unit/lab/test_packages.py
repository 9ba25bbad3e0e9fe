"""What the Debian packages are made from says one thing in all places."""

from __future__ import annotations

import re
import tomllib

from lab import packages
from lab.enclosure import CHECKOUT

CONTROL = (packages.DEBIAN / "control").read_text()


def pinned(text: str) -> dict[str, str]:
    return {
        name.lower().replace("_", "-"): version
        for name, version in re.findall(r"^([\w-]+)==([\w.]+)", text, re.M)
    }


def test_what_is_packed_is_what_is_tested():
    tested = pinned((CHECKOUT / "requirements/runtime.txt").read_text())

    packed = pinned(packages.REQUIREMENTS.read_text())

    assert packed
    assert packed == {name: tested[name] for name in packed}


def test_what_is_not_packed_comes_from_debian():
    tested = pinned((CHECKOUT / "requirements/runtime.txt").read_text())
    left = set(tested) - set(pinned(packages.REQUIREMENTS.read_text())) - {"setuptools"}

    assert left
    assert {f"python3-{name}" for name in left} <= packages.depends(CONTROL)


def test_every_file_has_its_hash():
    lines = packages.REQUIREMENTS.read_text().splitlines()

    assert all("--hash=sha256:" in line for line in lines if not line.startswith("#"))


def test_the_version_is_the_products():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    changelog = (packages.DEBIAN / "changelog").read_text()

    assert changelog.startswith(f"srv6mgr ({project['version']}) ")


def test_dependencies_are_read_without_versions_and_without_ourselves():
    assert "debhelper" in packages.build_depends(CONTROL)
    assert {"frr", "redis-server", "sysrepo"} <= packages.depends(CONTROL)
    assert not any(name.startswith("srv6mgr") for name in packages.depends(CONTROL))


def test_what_is_packed_has_a_manual_page():
    pages = {path.stem for path in (CHECKOUT / "docs/man").iterdir()}

    assert {
        "srv6mgrd", "srv6-gnmid", "srv6-netconfd", "srv6ctl", "srv6mgrd.toml", "gnmid.toml"
    } <= pages  # fmt: skip
