"""Debian's etcd: three members, each in a network namespace of its own behind a bridge."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6net.store.address import EtcdAddress
from tests.contract.etcd.cluster import Cluster

_PREFIXES = itertools.count()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("etcd")) as made:
        yield made


@pytest.fixture
def address(cluster: Cluster) -> EtcdAddress:
    """A store that nobody has used."""
    return cluster.address(f"/srv6net-{next(_PREFIXES)}")


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """One to damage."""
    with Cluster(tmp_path, first=4) as made:
        yield made
