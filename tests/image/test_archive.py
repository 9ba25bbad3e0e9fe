"""The archive is a valid OCI layout, and the image has nothing of the machine that made it.

On the host, as root: ``make nightly``. The rules are those of OCI's image-spec 1.1.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab import cache, container, host, packages
from lab.progress import Progress
from tests.image import topology

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
# Keys of the host, and of gNMI's certificate: each container makes its own.
KEYS = ("etc/ssh/ssh_host_", "var/lib/srv6mgr/gnmid/")


@dataclass(frozen=True, slots=True)
class Image:
    """The archive, and the layout that is in it."""

    archive: Path
    layout: Path

    def json(self, path: str) -> Any:
        return json.loads((self.layout / path).read_text())

    def blob(self, descriptor: Mapping[str, Any]) -> Path:
        return self.layout / container.blob_path(descriptor)

    @property
    def manifest(self) -> Any:
        (described,) = self.json("index.json")["manifests"]
        return json.loads(self.blob(described).read_text())


@pytest.fixture(scope="session")
def archive() -> Path:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    debs = packages.built(Progress(), but=packages.TESTING)
    return container.only(cache.ensure(container.archive(debs), Progress()), "*.tar")


@pytest.fixture(scope="session")
def image(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    layout = tmp_path_factory.mktemp("layout")
    with tarfile.open(archive) as file:
        file.extractall(layout, filter="data")
    return Image(archive, layout)


@pytest.fixture(scope="session")
def files(image: Image) -> dict[str, tarfile.TarInfo]:
    """Of all layers, by path."""
    found: dict[str, tarfile.TarInfo] = {}
    for layer in image.manifest["layers"]:
        with tarfile.open(image.blob(layer)) as file:
            found |= {info.name.removeprefix("./"): info for info in file}
    return found


def descriptors(image: Image) -> Iterator[Mapping[str, Any]]:
    yield from image.json("index.json")["manifests"]
    yield image.manifest["config"]
    yield from image.manifest["layers"]


def test_the_layout_has_its_version_and_an_index(image: Image) -> None:
    assert image.json("oci-layout") == {"imageLayoutVersion": "1.0.0"}
    index = image.json("index.json")
    assert index["schemaVersion"] == 2
    assert index.get("mediaType", INDEX) == INDEX
    (manifest,) = index["manifests"]
    tag = image.archive.stem.removeprefix("srv6mgr-")
    assert manifest["annotations"]["org.opencontainers.image.ref.name"] == tag


def test_each_descriptor_fits_its_blob_and_no_blob_is_left_over(image: Image) -> None:
    described = list(descriptors(image))
    types = [one["mediaType"] for one in described]
    assert types == [MANIFEST, CONFIG, *[LAYER] * (len(described) - 2)]
    for one in described:
        data = image.blob(one).read_bytes()
        assert one["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert one["size"] == len(data)
    blobs = {path for path in (image.layout / "blobs").rglob("*") if path.is_file()}
    assert blobs == {image.blob(one) for one in described}


def test_the_configuration_names_the_layers_by_their_content(image: Image) -> None:
    config = json.loads(image.blob(image.manifest["config"]).read_text())
    assert (config["os"], config["architecture"]) == ("linux", "amd64")
    assert config["rootfs"]["type"] == "layers"
    contents = [
        f"sha256:{hashlib.sha256(gzip.decompress(image.blob(layer).read_bytes())).hexdigest()}"
        for layer in image.manifest["layers"]
    ]
    assert config["rootfs"]["diff_ids"] == contents
    run = config["config"]
    assert (run["Entrypoint"], run["StopSignal"]) == (["/sbin/init"], "SIGRTMIN+3")
    assert "container=oci" in run["Env"]


def test_umoci_reads_it(image: Image) -> None:
    tag = image.archive.stem.removeprefix("srv6mgr-")
    argv = ["umoci", "stat", "--json", "--image", f"{image.layout}:{tag}"]
    stat = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    layers = [entry["layer"] for entry in stat["history"] if entry.get("layer")]
    assert len(layers) == len(image.manifest["layers"])


def test_docker_finds_the_same_blobs(image: Image) -> None:
    (listed,) = image.json("manifest.json")
    assert image.layout / listed["Config"] == image.blob(image.manifest["config"])
    blobs = [image.blob(layer) for layer in image.manifest["layers"]]
    assert [image.layout / path for path in listed["Layers"]] == blobs


def test_the_topology_uses_this_image(image: Image) -> None:
    used = topology.read()["topology"]["defaults"]["image"]
    assert image.json("manifest.json")[0]["RepoTags"] == [used]


def test_it_has_no_key_and_no_identity(files: dict[str, tarfile.TarInfo]) -> None:
    assert [name for name in files if name.startswith(KEYS)] == []
    assert files["etc/machine-id"].size == 0
    assert "etc/hostname" not in files


def test_it_has_nothing_of_the_machine_that_made_it(image: Image) -> None:
    named = host.debian_mirror().encode()
    for layer in image.manifest["layers"]:
        with tarfile.open(image.blob(layer)) as file:
            settings = [info for info in file if info.isfile() and "etc/apt/" in info.name]
            readers = [(info.name, file.extractfile(info)) for info in settings]
            texts = [(name, reader.read()) for name, reader in readers if reader is not None]
    assert any(name.endswith("sources.list") for name, _ in texts)
    proxies = [name for name, text in texts if b"Acquire::http" in text]
    assert proxies == []
    if b"//deb.debian.org/" not in named:
        assert [name for name, text in texts if named in text] == []


def test_it_has_nothing_to_build_with(files: dict[str, tarfile.TarInfo]) -> None:
    assert "usr/sbin/srv6mgrd" in files
    assert [name for name in files if name.endswith((".deb", "bin/gcc", "bin/clang"))] == []
