"""The containerlab topology file as the lab brings it up, and containerlab's rules for it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.enclosure import CHECKOUT

FILE = CHECKOUT / "examples/containerlab/l3vpn.clab.yml"
TO_JSON = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
# Of schemas/clab.schema.json, the part that the file uses.
NODE_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-._|]*")
END = re.compile(r"\S+:\S+")
TEXTS = ("kind", "image", "group", "entrypoint", "cmd", "cgroupns-mode")
LISTS = ("exec", "binds")
# The kind linux has the network of management there (nodes/linux/linux.go, CheckInterfaceName).
MANAGEMENT = "eth0"


def read() -> dict[str, Any]:
    """The file, by a YAML parser that the lab has."""
    argv = [str(CHECKOUT / "lab/lab"), "chroot", "--", "env", "PYTHONPATH="]
    done = subprocess.run(
        [*argv, "/opt/pygnmi/bin/python", "-c", TO_JSON], input=FILE.read_text(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def faults(table: Mapping[str, Any]) -> Iterator[str]:
    """What containerlab would reject."""
    yield from (f"{key}: unknown" for key in table.keys() - {"name", "topology"})
    topology = table["topology"]
    known = {"defaults", "groups", "nodes", "links"}
    yield from (f"topology: {key}: unknown" for key in topology.keys() - known)
    groups = topology["groups"]
    yield from _node_faults("defaults", topology["defaults"])
    for name, node in [*groups.items(), *topology["nodes"].items()]:
        if not NODE_NAME.fullmatch(name):
            yield f"{name}: no name of a node"
        yield from _node_faults(name, node)
        if node.get("group", next(iter(groups))) not in groups:
            yield f"{name}: group {node['group']}: unknown"
        for bind in node.get("binds", ()):
            if not (FILE.parent / bind.split(":")[0]).is_file():
                yield f"{name}: {bind}: no such file"
    used: set[str] = set()
    for number, link in enumerate(topology["links"]):
        yield from (f"link {number}: {key}: unknown" for key in link.keys() - {"endpoints", "mtu"})
        for end in link["endpoints"]:
            node, _, interface = end.partition(":")
            if not END.fullmatch(end) or node not in topology["nodes"]:
                yield f"link {number}: {end}: no end"
            if interface == MANAGEMENT or len(interface) > 15 or end in used:
                yield f"link {number}: {end}: not free"
            used.add(end)


def _node_faults(name: str, node: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name}: {key}: unknown" for key in node.keys() - {*TEXTS, *LISTS})
    for key, value in node.items():
        if key in TEXTS and not isinstance(value, str):
            yield f"{name}: {key}: no text"
        if key in LISTS and not (value and all(isinstance(one, str) for one in value)):
            yield f"{name}: {key}: no list of texts"
    if node.get("kind", "linux") != "linux":
        yield f"{name}: kind {node['kind']}: the image is of kind linux"


def of_lab(table: Mapping[str, Any]) -> str:
    """The same nodes and links as a topology of the lab, where all else is left to the file."""
    lines = ['name = "clab"']
    for name in table["topology"]["nodes"]:
        role = "host" if name.startswith(("red", "blue")) else "router"
        lines += [f"[nodes.{name}]", f'role = "{role}"']
    for link in table["topology"]["links"]:
        lines += ["[[links]]", f"ends = {json.dumps(link['endpoints'])}", f"mtu = {link['mtu']}"]
    return "\n".join(lines) + "\n"


def edges(table: Mapping[str, Any]) -> list[str]:
    """Nodes that start the image's entry point."""
    topology = table["topology"]
    return [
        name
        for name, node in topology["nodes"].items()
        if "entrypoint" not in {**topology["groups"][node["group"]], **node}
    ]


def configuration(node: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Paths in the container, and the files that are bound to them."""
    for bind in node.get("binds", ()):
        source, target, *_ = bind.split(":")
        yield target, (FILE.parent / source).resolve()
