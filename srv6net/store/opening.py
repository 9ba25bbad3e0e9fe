"""The store that an operator names: a file, or a cluster of etcd."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from srv6net.store.address import etcd_address, is_etcd
from srv6net.transaction.ports import Store

STORE = "/var/lib/srv6net/network.sqlite"


class KeptStore(Store, Protocol):
    def close(self) -> None:
        """Give back what it holds open."""


def opened(place: str) -> KeptStore:
    """Raises StoreError where it cannot be used."""
    if is_etcd(place):
        from srv6net.store.etcd import EtcdStore

        return EtcdStore(etcd_address(place))
    from srv6net.store.sqlite import SqliteStore

    return SqliteStore(Path(place))
