"""The Python environments of the lab, built against the root's own libraries."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress

REQUIREMENTS = CHECKOUT / "requirements"
PROJECT = CHECKOUT / "pyproject.toml"
HOMES = {"python": "/opt/srv6mgr", "pygnmi": "/opt/pygnmi"}
PRODUCT = ("runtime.txt", "test.txt", "lab.txt")
# pygnmi brings its own gNMI protobufs, which can't share a process with the product's.
CLIENT = ("pygnmi.txt",)
SCRIPT = """set -e
home=$1
shift
python3 -m venv --copies "$home"
"$home/bin/pip" install --no-input setuptools==80.9.0 wheel cffi==2.1.1
"$home/bin/pip" install --no-input --no-build-isolation "$@"
"""
# `compat` puts the checkout's folder on the path, so that new packages need no new installation.
# What is written in C, where counters/fence.py looks for it.
COMPILED = ("srv6mgrd/counters/put.h", "srv6mgrd/gnmi/pack.c", "srv6mgrd/metrics/samples.c")
ENTRY_POINTS = """
mkdir -p "$home/lib/srv6mgr"
gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$home/lib/srv6mgr/libsrv6pack.so" \\
    /src/srv6mgrd/gnmi/pack.c /src/srv6mgrd/metrics/samples.c
"$home/bin/pip" install --no-deps --no-build-isolation \\
    --config-settings editable_mode=compat -e /src
"""


def product(root: Path) -> Entry:
    """/opt/srv6mgr: what the daemons and the test suites import or run, and their entry points."""
    compiled = "".join((CHECKOUT / name).read_text() for name in COMPILED)
    return _entry("python", root, PRODUCT, SCRIPT + ENTRY_POINTS, _entry_points() + compiled)


def client(root: Path) -> Entry:
    """/opt/pygnmi: a gNMI client that is not ours."""
    return _entry("pygnmi", root, CLIENT, SCRIPT, "")


def _entry(kind: str, root: Path, files: tuple[str, ...], script: str, project: str) -> Entry:
    home = HOMES[kind]
    contents = [(REQUIREMENTS / name).read_bytes() for name in files]
    key = digest(root.parent.name, script, project, *contents)

    def build(target: Path, progress: Progress) -> None:
        wheels = os.environ.get("PIP_FIND_LINKS", "")
        parts = [Part("home", target, home)]
        environment = {}
        if os.path.isabs(wheels) and Path(wheels).is_dir():
            parts.append(Part("wheels", Path(wheels), "/lab/wheels"))
            environment["PIP_FIND_LINKS"] = "/lab/wheels"
        inside = Enclosure(root, parts, source="overlay", environment=environment)
        arguments = [word for name in files for word in ("-r", f"/src/requirements/{name}")]
        command = ["sh", "-c", script, "sh", home, *arguments]
        host.run_logged(
            inside.argv(command), log_file(kind), progress, f"Python environment {home}",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry(kind, key, 800, build)


def _entry_points() -> str:
    """The part of pyproject.toml that the environment depends on; tool settings are not."""
    table: dict[str, Any] = tomllib.loads(PROJECT.read_text()).get("project", {})
    chosen = {name: table.get(name) for name in ("name", "version", "scripts")}
    return json.dumps(chosen, sort_keys=True)
