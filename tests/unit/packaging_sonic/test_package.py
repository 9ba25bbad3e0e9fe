"""The SONiC package: what sonic-package-manager, supervisord and sonic-utilities ask of it.

From sonic-utilities sonic_package_manager/manifest.py, show/srv6.py, tests/show_srv6_test.py and
tests/srv6stat_test.py, restated.
"""

from __future__ import annotations

import configparser
import importlib.util
import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner

PACKAGE = Path("packaging/sonic")
# Of manifest.py: name, type, and whether it is required. A list has one type of members.
SCHEMA: dict[str, Any] = {
    "version": str,
    "package": {
        "version!": str,
        "name!": str,
        "description": str,
        "base-os": str,
        "depends": [str],
        "breaks": [str],
        "init-cfg": dict,
        "changelog": dict,
        "debug-dump": str,
    },
    "service": {
        "name!": str,
        **{n: [str] for n in ("requires", "requisite", "wanted-by", "after", "before")},
        **{n: [str] for n in ("dependent", "dependent-of")},
        "post-start-action": str,
        "pre-shutdown-action": str,
        **dict.fromkeys(("asic-service", "host-service", "delayed", "check_up_status"), bool),
        "type": str,
        "stop-time": str,
        "warm-shutdown": {"after": [str], "before": [str]},
        "fast-shutdown": {"after": [str], "before": [str]},
        "syslog": {"support-rate-limit": bool},
    },
    "container": {
        "privileged": bool,
        "volumes": [str],
        "mounts": [{"source!": str, "target!": str, "type!": str}],
        "environment": dict,
        "tmpfs": [str],
    },
    "processes": [{"name!": str, "reconciles": bool}],
    "cli": {
        "mandatory": bool,
        **{n: [str] for n in ("show", "config", "clear")},
        "auto-generate-show": bool,
        "auto-generate-config": bool,
    },
}


def faults(value: Any, schema: Any, path: str = "") -> list[str]:
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return [f"{path} is no dictionary"]
        known = {name.rstrip("!"): kind for name, kind in schema.items()}
        out = [f"{path}/{name} is unknown" for name in value.keys() - known.keys()]
        needed = {name[:-1] for name in schema if name.endswith("!")}
        out += [f"{path}/{name} is missing" for name in needed - value.keys()]
        for name in value.keys() & known.keys():
            out += faults(value[name], known[name], f"{path}/{name}")
        return out
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{path} is no list"]
        return [f for n, v in enumerate(value) for f in faults(v, schema[0], f"{path}[{n}]")]
    return [] if isinstance(value, schema) else [f"{path} is no {schema.__name__}"]


def manifest() -> Any:
    return json.loads((PACKAGE / "manifest.json").read_text())


def test_the_manifest_is_what_the_package_manager_takes() -> None:
    assert faults(manifest(), SCHEMA) == []
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    assert manifest()["package"]["version"] == project["version"]
    # Versions are those of semver, constraints <name><operator><version>.
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest()["package"]["version"])
    for constraint in manifest()["package"]["depends"]:
        assert re.fullmatch(r"[a-z0-9-]+(\^|=|>=|<=|>|<|!)\d+\.\d+\.\d+", constraint)
    # The check itself finds what is wrong.
    wrong = {**manifest(), "service": {"requires": "swss"}, "colour": 1}
    assert faults(wrong, SCHEMA) == [
        "/colour is unknown",
        "/service/name is missing",
        "/service/requires is no list",
    ]


def test_the_image_holds_what_the_manifest_names() -> None:
    image = (PACKAGE / "Dockerfile").read_text()
    named = manifest()
    for path in (*named["cli"]["show"], *named["cli"]["config"], named["package"]["debug-dump"]):
        assert path in image
    copied = re.findall(r"^COPY (?!build/)(.+) \S+$", image, re.MULTILINE)
    for source in " ".join(copied).split():
        assert Path(source).exists(), source
    conf = configparser.ConfigParser(interpolation=None)
    conf.read(PACKAGE / "supervisord.conf")
    programs = {s.removeprefix("program:") for s in conf.sections() if s.startswith("program:")}
    assert {p["name"] for p in named["processes"]} == programs - {"rsyslogd", "start"}
    critical = (PACKAGE / "critical_processes").read_text().split()
    assert {c.removeprefix("program:") for c in critical} <= programs
    # Logs go to rsyslogd, and each program waits for another one that there is.
    for name in programs:
        section = conf[f"program:{name}"]
        assert section["stdout_syslog"] == section["stderr_syslog"] == "true"
        for wait in section.get("dependent_startup_wait_for", "").split():
            assert wait.partition(":")[0] in programs


@pytest.mark.parametrize(("number", "namespace"), [("", ""), ("1", "asic1")])
def test_settings_are_made_for_the_namespace(tmp_path: Path, number: str, namespace: str) -> None:
    own, out = tmp_path / "etc", tmp_path / "run"
    own.mkdir()
    (own / "gnmid.toml").write_text('listen = ["[::1]:9400"]')
    (own / "srv6mgrd.toml").write_text('mode = "standalone"\nlog_level = "debug"')
    state = tmp_path / "state"
    environment = {"SRV6MGR_ETC": str(own), "SRV6MGR_RUN": str(out), "PATH": "/usr/bin:/bin"}
    environment |= {"SRV6MGR_STATE": str(state)}
    environment |= {"NAMESPACE_ID": number} if number else {}
    subprocess.run(["sh", PACKAGE / "start.sh"], check=True, env=environment)
    from srv6mgrd import settings

    loaded = settings.load(out / "srv6mgrd.toml")
    assert (loaded.log_level, loaded.mode) == ("debug", "standalone")
    assert loaded.sonic_database_config == "/var/run/redis/sonic-db/database_config.json"
    assert loaded.sonic_namespace == namespace
    configdbd = tomllib.loads((out / "srv6-configdbd.toml").read_text())
    assert configdbd["mode"] == "sonic"
    # All containers have one /var/lib/srv6mgr.
    assert Path(loaded.state_directory) == state / namespace
    assert Path(configdbd["state_directory"]) == state / namespace / "configdb"
    assert tomllib.loads((out / "gnmid.toml").read_text()) == {"listen": ["[::1]:9400"]}


def test_the_dump_asks_what_srv6ctl_answers() -> None:
    line = re.search(r"for command in (.+); do", (PACKAGE / "debug-dump").read_text())
    assert line is not None
    manual = Path("docs/man/srv6ctl.1").read_text()
    commands = shlex.split(line.group(1))
    assert len(commands) > 3
    for command in (*commands, "support-bundle"):
        assert re.search(rf"^\.SS {command}\b", manual.replace("\\-", "-"), re.MULTILINE), command


def test_a_second_dump_has_a_bundle(tmp_path: Path) -> None:
    """``srv6ctl support-bundle`` writes no file that exists already."""
    bundle = tmp_path / "bundle.tar.gz"
    bundle.write_text("of yesterday")
    ctl = tmp_path / "srv6ctl"
    # As srv6ctl, which does not find the settings of the container by itself.
    ctl.write_text(
        '#!/bin/sh\n[ "$1 $2" = "--config /run/own/srv6mgrd.toml" ] || exit 2\nshift 2\n'
        '[ "$1" != support-bundle ] || { set -C; echo new >"$2"; }\n'
    )
    ctl.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SRV6MGR_BUNDLE": str(bundle)}
    environment["SRV6MGR_RUN"] = "/run/own"
    dump = ["sh", PACKAGE / "debug-dump"]
    shown = subprocess.run(dump, check=True, env=environment, capture_output=True, text=True)
    assert shown.stdout.splitlines()[-1] == f"== {bundle}"
    assert "ended with status" not in shown.stdout
    assert bundle.read_text() == "new\n"


def plugin(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"srv6mgr_{name}", PACKAGE / f"cli/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry(sid: str, block: int, node: int, function: int) -> str:
    fields = {"sid": sid, "locator_block_len": str(block), "locator_node_len": str(node)}
    content = json.dumps({"args_len": "0", "function_len": str(function), **fields})
    return f"ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:{content}"


def test_show_srv6_locators() -> None:
    show = plugin("show")
    both = {
        "Locator2": {
            "prefix": "2001:db8:2::/48",
            "block_len": "40",
            "node_len": "8",
            "func_len": "16",
        },
        "Locator1": {"prefix": "2001:db8:1::/48"},
    }
    assert show.LOCATORS == ["Locator", "Prefix", "Block Len", "Node Len", "Func Len"]
    assert show.locators(both) == [
        ["Locator1", "2001:db8:1::/48", 32, 16, 16],
        ["Locator2", "2001:db8:2::/48", "40", "8", "16"],
    ]
    assert show.locators({}) == []


def test_show_srv6_static_sids() -> None:
    show = plugin("show")
    header = ["SID", "Locator", "Action", "Decap DSCP Mode", "Decap VRF", "Offloaded"]
    assert header == show.STATIC_SIDS
    table = {
        ("loc2", "fcbb:bbbb:2:f1::/64"): {"action": "uDT46", "decap_vrf": "Vrf1"},
        ("loc1", "fcbb:bbbb:1::/48"): {"action": "uN", "decap_dscp_mode": "pipe"},
    }
    asic = [
        entry("fcbb:bbbb:1::", 32, 16, 0),
        entry("fcbb:bbbb:9::", 32, 16, 0),
        "ASIC_STATE:SAI_OBJECT_TYPE_SRV6_SIDLIST:oid:0x3d000000000001",
    ]
    assert show.static_sids(table, asic) == [
        ["fcbb:bbbb:1::/48", "loc1", "uN", "pipe", "N/A", True],
        ["fcbb:bbbb:2:f1::/64", "loc2", "uDT46", "N/A", "Vrf1", False],
    ]


def test_show_srv6_stats() -> None:
    show = plugin("show")
    names = {"2000:2:30::/48": "oid:0x2", "1000:2:30::/48": "oid:0x1", "3000::/48": "oid:0x3"}
    counters = {
        "COUNTERS:oid:0x1": {"SAI_COUNTER_STAT_PACKETS": "100", "SAI_COUNTER_STAT_BYTES": "102400"},
        "COUNTERS:oid:0x2": {"SAI_COUNTER_STAT_PACKETS": "200", "SAI_COUNTER_STAT_BYTES": "204800"},
    }
    assert show.STATS == ["MySID", "Packets", "Bytes"]
    assert show.stats(names, counters) == [
        ["1000:2:30::/48", 100, 102400],
        ["2000:2:30::/48", 200, 204800],
    ]


def test_show_srv6_accounting_and_drops() -> None:
    show = plugin("show")
    counted = {"packets": "2", "inner_octets": "168", "outer_octets": "296", "owner": "srv6mgr"}
    accounting = {
        "SRV6MGR_ACCOUNTING|sent|red|ipv4|fcbb:0:9::,fcbb:0:2:64::": counted,
        "SRV6MGR_ACCOUNTING|received|red|ipv4|2001:db8::2": counted,
    }
    assert show.accounting(accounting, "SRV6MGR_ACCOUNTING|") == [
        ["received", "red", "ipv4", "2001:db8::2", 2, 168, 296],
        ["sent", "red", "ipv4", "fcbb:0:9::,fcbb:0:2:64::", 2, 168, 296],
    ]
    of_list = {
        "SAI_SRV6_SIDLIST_STAT_OUT_PACKETS": "2",
        "SAI_SRV6_SIDLIST_STAT_OUT_OCTETS": "296",
        "owner": "srv6mgr",
    }
    lists = {"SRV6MGR_SIDLIST_COUNTERS:via-p": of_list}
    assert show.sid_list_stats(lists, "SRV6MGR_SIDLIST_COUNTERS:") == [["via-p", 2, 296]]
    drops = {
        "SRV6MGR_DROPS|fcbb:0:1:64::/64|no-route": {
            "vrf": "red", "certainty": "certain", "packets": "12", "owner": "srv6mgr"
        }
    }  # fmt: skip
    assert show.drops(drops, "SRV6MGR_DROPS|") == [
        ["fcbb:0:1:64::/64", "red", "no-route", "certain", 12]
    ]


def test_show_adds_to_the_group_that_sonic_has() -> None:
    theirs = click.Command("locators")
    group = click.Group("srv6", commands=[theirs])
    cli = click.Group("show", commands=[group])
    plugin("show").register(cli)
    assert group.commands["locators"] is theirs
    assert {"static-sids", "stats", "config-status", "sids"} <= group.commands.keys()
    assert {"accounting", "sid-list-stats", "drops"} <= group.commands.keys()
    alone = click.Group("show")
    plugin("show").register(alone)
    added = alone.commands["srv6"]
    assert isinstance(added, click.Group)
    assert "locators" in added.commands


def test_config_writes_rows() -> None:
    cli = click.Group("config")
    plugin("config").register(cli)
    written: list[tuple[str, str, Any]] = []

    def run(*words: str) -> None:
        result = CliRunner().invoke(cli, words, obj=lambda *row: written.append(row))
        assert result.exit_code == 0, result.output

    run("srv6", "locator", "add", "MAIN", "--prefix", "fcbb:bbbb:20::", "--func-len", "0")
    run("srv6", "sid", "add", "MAIN", "fcbb:bbbb:20::/48", "--action", "uN")
    run("srv6", "steering", "del", "Vrf1", "10.9.0.0/16")
    run("srv6", "service-function-group", "add", "caches", "--functions", "a,b")
    assert written == [
        ("SRV6_MY_LOCATORS", "MAIN", {"prefix": "fcbb:bbbb:20::", "func_len": "0"}),
        ("SRV6_MY_SIDS", "MAIN|fcbb:bbbb:20::/48", {"action": "uN"}),
        ("SRV6MGR_STEERING", "Vrf1|10.9.0.0/16", None),
        ("SRV6MGR_SERVICE_FUNCTION_GROUP", "caches", {"functions@": "a,b"}),
    ]


def test_config_has_the_fields_of_the_tables() -> None:
    from srv6mgrd.redis.schema import table

    for name, parts, fields in plugin("config").TABLES.values():
        known = table("CONFIG_DB", name)
        assert len(parts) == len(known.parts), name
        assert set(fields) <= known.fields.keys(), name
