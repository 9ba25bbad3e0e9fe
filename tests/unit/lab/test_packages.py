"""What the Debian packages are made from says one thing in all places."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from lab import packages, rootfs
from lab.enclosure import CHECKOUT
from orchagent import daemon as orchagent
from srv6mgrd import settings
from srv6mgrd.configdb import daemon as configdbd
from srv6mgrd.gnmi import config as gnmid
from srv6mgrd.metrics import config as metricsd
from srv6mgrd.stamp import daemon as stampd

CONTROL = (packages.DEBIAN / "control").read_text()
PAGES = CHECKOUT / "docs/man"
UNITS = sorted(packages.DEBIAN.glob("*.service"))
OURS = [path for path in UNITS if "ExecStart=/usr/sbin/srv6" in path.read_text()]


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


def test_what_the_operator_takes_from_backports_is_what_is_tested():
    reported = (CHECKOUT / "docs/install.md").read_text().replace("\n    ", "\n")
    assert rootfs.PREFERENCES in reported


def test_the_version_is_the_products():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    changelog = (packages.DEBIAN / "changelog").read_text()

    assert changelog.startswith(f"srv6mgr ({project['version']}) ")


def test_dependencies_are_read_without_versions_and_without_ourselves():
    assert "debhelper" in packages.build_depends(CONTROL)
    assert {"frr", "redis-tools", "sysrepo"} <= packages.depends(CONTROL)
    assert not any(name.startswith("srv6mgr") for name in packages.depends(CONTROL))


def page(name: str) -> str:
    found = [path for path in PAGES.iterdir() if path.stem == name]
    assert found, f"{name} has no manual page"
    return found[0].read_text().replace("\\-", "-")


def test_every_program_has_a_manual_page():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]

    assert all(page(name) for name in (*project["scripts"], "srv6-netconfd", "srv6mgr-lab"))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["srv6mgrd.toml"], settings.Settings),
        (["gnmid.toml"], gnmid.Config),
        (["srv6-configdbd"], configdbd.Settings),
        (["srv6-stampd"], stampd.Settings),
        (["srv6-metricsd"], metricsd.Config),
        (["srv6-orchagent", "srv6-configdbd"], orchagent.Settings),
    ],
)
def test_every_setting_is_in_a_manual_page(names, kind):
    text = "".join(map(page, names))

    assert [f.name for f in dataclasses.fields(kind) if f.name not in text] == []


@pytest.mark.parametrize(
    "file", ["srv6mgrd", "gnmid", "srv6-configdbd", "srv6-metricsd", "srv6-orchagent"]
)
def test_what_is_configured_by_default_is_known(file):
    read = {
        "srv6mgrd": settings.load,
        "gnmid": gnmid.load,
        "srv6-metricsd": metricsd.load,
        "srv6-configdbd": lambda path: settings.read(configdbd.Settings, path, path),
        "srv6-orchagent": lambda path: settings.read(orchagent.Settings, path, path),
    }[file]

    assert read(packages.DEBIAN / f"etc/{file}.toml")


@pytest.mark.parametrize("unit", OURS, ids=lambda path: path.name)
def test_units_say_when_they_are_ready_are_watched_and_do_not_restart_for_ever(unit: Path):
    text = unit.read_text()

    for line in ("Type=notify", "Restart=on-failure", "RestartMaxDelaySec=", "StartLimitBurst="):
        assert f"\n{line}" in text
    assert "\nWatchdogSec=" in text or "hence no watchdog" in text


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_each_capability_of_a_unit_is_justified(unit: Path):
    text = unit.read_text()
    given = re.findall(r"^CapabilityBoundingSet=(.*)", text, re.M)
    comments = "".join(line for line in text.splitlines() if line.startswith("#   "))

    assert len(given) == 1
    for capability in given[0].split():
        assert re.search(rf"\b{capability.removeprefix('CAP_')}\b", comments), capability


def test_every_daemon_has_a_unit():
    daemons = {path.stem for path in PAGES.glob("*.8")}

    assert {path.name.split(".")[-2] for path in OURS} == daemons


HARDENING = (
    "MemoryMax", "TasksMax", "CapabilityBoundingSet", "NoNewPrivileges", "ProtectSystem",
    "ProtectHome", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs",
    "ProtectClock", "ProtectControlGroups", "ProtectHostname", "PrivateTmp", "PrivateDevices",
    "RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID",
    "LockPersonality", "SystemCallArchitectures", "SystemCallFilter", "DevicePolicy",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_every_unit_has_limits_and_is_hardened(unit: Path):
    assert len(UNITS) == 10
    settings = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.M))

    assert [name for name in HARDENING if name not in settings] == []
    assert re.fullmatch(r"[1-3]G", settings["MemoryMax"])
    assert 1 <= int(settings["TasksMax"]) <= 2048
    assert settings["NoNewPrivileges"] == "yes"
    assert settings["ProtectSystem"] == "strict"


def test_the_group_of_the_sockets_is_made_by_each_package_that_has_one():
    for package in ("srv6mgr", "srv6mgr-netconfd"):
        lines = (packages.DEBIAN / f"{package}.sysusers").read_text().splitlines()
        assert f"g {gnmid.Config().socket_group} -" in lines


def test_passwords_of_gnmi_clients_are_checked_by_a_service_that_is_installed():
    given = tomllib.loads((packages.DEBIAN / "etc/gnmid.toml").read_text())
    assert "anonymous_user" not in given
    # dh_installpam puts a file of this name into /etc/pam.d, under the name of the package.
    assert (packages.DEBIAN / f"{given['pam']}.pam").read_text().count("@include common-") == 2


def test_a_router_needs_nothing_to_build_with() -> None:
    assert not [name for name in packages.depends(CONTROL) if name.endswith("-dev")]
    assert "redis-server" not in packages.depends(CONTROL)  # it listens on TCP port 6379


def test_the_license_of_each_bundled_module_is_named() -> None:
    stated = (packages.DEBIAN / "copyright").read_text()
    patterns = re.findall(r"wheels/(\S+)-\*", stated)

    packed = pinned(packages.REQUIREMENTS.read_text())

    assert sorted(name.replace("_", "-") for name in patterns) == sorted(packed)
    named = set(re.findall(r"^License: (.*)", stated, re.M))
    assert "MPL-2.0" in named
    texts = {part for line in named for part in line.split(" and ")}
    assert all(f"License: {name}\n " in stated for name in texts)


def test_a_folder_keeps_files_that_are_no_packages_of_ours(tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("notes.txt", "srv6mgr.md", "frr_10.3_amd64.deb", "srv6mgr_0.1.0_amd64.deb"):
        (out / name).write_text("old")
    deb = tmp_path / "srv6mgr_0.2.0_amd64.deb"
    deb.write_text("new")

    copied = packages.copy_to(out, [deb])

    assert copied == [out / deb.name]
    assert {file.name for file in out.iterdir()} == {
        "notes.txt", "srv6mgr.md", "frr_10.3_amd64.deb", deb.name,
    }  # fmt: skip


def test_folders_in_the_target_are_left_alone(tmp_path: Path):
    deb = tmp_path / "srv6mgr_0.2.0_amd64.deb"
    deb.write_text("new")
    folder = tmp_path / "out" / "srv6mgr_old.deb"
    folder.mkdir(parents=True)

    packages.copy_to(folder.parent, [deb])

    assert folder.is_dir()


def test_descriptions_fit_a_terminal():
    # lintian, which fails a build after many minutes: extended-description-line-too-long.
    assert [line for line in CONTROL.splitlines() if len(line) > 80] == []


def test_the_source_package_has_the_folders_of_the_rules() -> None:
    rules = (packages.DEBIAN / "rules").read_text()
    tested = re.search(r"(?m)^TESTED := ((?:.*\\\n)*.*)$", rules)
    copied = re.findall(r"(?m)^\tcp -r ((?:\w+ )+)\$\(", rules)
    assert tested is not None
    assert copied
    wanted = {word for text in (tested[1], *copied) for word in text.replace("\\", " ").split()}
    assert wanted - set(packages.SOURCES) == set()
