"""A container image of a router, made without a container engine: Debian with systemd and the
packages, as an OCI layout (image-spec, image-layout.md) in one archive.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab import cache, host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, private_argv
from lab.problem import LabError
from lab.progress import Progress

FINISH = CHECKOUT / "packaging/oci"
NAME = "srv6mgr"
# What a router is looked at with, and the packages; apt finds what they depend on.
PACKAGES = (
    "systemd-sysv", "dbus", "iproute2", "iputils-ping", "procps", "tcpdump",
    "frr-pythontools", "srv6mgr", "srv6mgr-netconfd",
)  # fmt: skip
SERVED = ("srv6mgr", "srv6mgr-yang", "srv6mgr-netconfd")
TOOLS = {"umoci": "umoci", "apt-ftparchive": "apt-utils"}
# systemd as the first process: it ends at this signal, and finds by the variable that it is in a
# container (systemd's CONTAINER_INTERFACE).
CONFIG = {
    "config.entrypoint": "/sbin/init",
    "config.env": "container=oci",
    "config.stopsignal": "SIGRTMIN+3",
    "config.label": "org.opencontainers.image.title=srv6mgr",
    "architecture": "amd64",
    "os": "linux",
}


def archive(debs: Path) -> Entry:
    """``srv6mgr-VERSION.tar`` with the packages of a folder."""
    files = sorted(path for path in FINISH.iterdir() if path.is_file())
    contents = [part for path in files for part in (path.name, path.read_bytes())]
    config = json.dumps(CONFIG, sort_keys=True)
    key = digest(debs.name, rootfs.SUITE, rootfs.PREFERENCES, *PACKAGES, config, *contents)

    def build(target: Path, progress: Progress) -> None:
        host.require_tools(TOOLS, progress)
        with tempfile.TemporaryDirectory(prefix="srv6mgr-image-") as folder:
            make(debs, Path(folder), target, progress)

    return Entry("image", key, 1500, build, apart=True)


def make(debs: Path, work: Path, target: Path, progress: Progress) -> None:
    """Build in ``work``; the archive goes to ``target``."""
    served = work / "served"
    served.mkdir()
    work.chmod(0o755)  # apt reads in it as a user of its own
    for name in SERVED:
        shutil.copy(only(debs, f"{name}_*.deb"), served)
    (served / "Packages").write_text(_run(["apt-ftparchive", "packages", "."], served))
    with progress.step(f"Debian {rootfs.SUITE} with the packages"):
        root = rootfs.bootstrap(
            work, "image", PACKAGES, progress,
            sources=(f"deb [trusted=yes] copy:{served} ./",), mount_points=(),
        )  # fmt: skip
    finish = private_argv({}, ["sh", str(FINISH / "finish.sh"), str(root)])
    host.run_logged(finish, log_file("image"), progress, "image")
    version = version_of(only(served, "srv6mgr_*.deb"))
    layout = work / "layout"
    with progress.step("layer"):
        _umoci(["init", "--layout", str(layout)])
        image = ["--image", f"{layout}:{version}"]
        _umoci(["new", *image])
        _umoci(["insert", *image, str(root), "/"])
        options = [f"--{key}={value}" for key, value in CONFIG.items()]
        _umoci(["config", *image, *options, "--no-history"])
        _umoci(["gc", "--layout", str(layout)])
        name_for_engines(layout, f"{NAME}:{version}")
        pack(layout, target / f"{NAME}-{version}.tar")


def only(folder: Path, pattern: str) -> Path:
    """The one file of that name; LabError where there is none, or several."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise LabError(f"{folder}/{pattern}", f"{len(found)} files", "build the packages again")
    return found[0]


def version_of(deb: Path) -> str:
    """Of a package, as a tag: ``~`` and ``+`` are no characters of one (distribution-spec)."""
    found = re.match(r"[^_]+_([^_]+)_", deb.name)
    assert found is not None, deb
    return re.sub(r"[^\w.-]", "-", found[1])


def name_for_engines(layout: Path, reference: str) -> None:
    """Write under which name an engine loads the image: for containerd and Podman an annotation of
    the index, for Docker's own store a ``manifest.json``, which points to the same blobs."""
    index = json.loads((layout / "index.json").read_text())
    (described,) = index["manifests"]
    described.setdefault("annotations", {})["io.containerd.image.name"] = (
        f"docker.io/library/{reference}"
    )
    (layout / "index.json").write_text(json.dumps(index))
    manifest = json.loads((layout / blob_path(described)).read_text())
    listed = {
        "Config": blob_path(manifest["config"]),
        "RepoTags": [reference],
        "Layers": [blob_path(layer) for layer in manifest["layers"]],
    }
    (layout / "manifest.json").write_text(json.dumps([listed]))


def blob_path(descriptor: Mapping[str, Any]) -> str:
    """Where a layout has what a descriptor names (image-layout.md, Blobs)."""
    algorithm, _, encoded = str(descriptor["digest"]).partition(":")
    return f"blobs/{algorithm}/{encoded}"


def pack(layout: Path, archive: Path) -> None:
    """The layout as one file."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    with tarfile.open(archive, "w") as file:
        for path in sorted(layout.rglob("*")):
            file.add(path, str(path.relative_to(layout)), recursive=False, filter=plain)


def unpack(archive: Path, folder: Path) -> Path:
    """Write the root file system of an image to ``root`` in the folder, layer by layer."""
    layout = cache.make_folder(folder / "layout")
    with tarfile.open(archive) as file:
        file.extractall(layout, filter="data")
    tag = archive.stem.removeprefix(f"{NAME}-")
    _umoci(["unpack", "--image", f"{layout}:{tag}", str(folder / "bundle")])
    shutil.rmtree(layout)
    return (folder / "bundle/rootfs").rename(folder / "root")


def _umoci(arguments: Sequence[str]) -> str:
    return _run(["umoci", *arguments])


def _run(argv: Sequence[str], folder: Path | None = None) -> str:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        message = done.stderr.strip().splitlines()
        raise LabError(argv[0], message[-1] if message else f"status {done.returncode}")
    return done.stdout
