"""Reads what srv6mgrd publishes: the store, and the files beside it."""

from __future__ import annotations

import threading
from pathlib import Path

from srv6mgrd.counters import accounting, alarms, drops, node, observed, proxies
from srv6mgrd.counters.node import NodeReader
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.metrics.query import Kind, Query
from srv6mgrd.metrics.state import Members, State


class Source:
    """May be read by several threads, which take turns."""

    def __init__(self, store: Path) -> None:
        self._turn = threading.Lock()
        self._store = StoreReader(store)
        self._node = NodeReader(node.beside(store))
        self._observed = NodeReader(observed.beside(store))
        self._accounting = NodeReader(accounting.beside(store))
        self._drops = NodeReader(drops.beside(store))
        self._proxies = NodeReader(proxies.beside(store))
        self._alarms = NodeReader(alarms.beside(store))

    def read(self, query: Query) -> State:
        """Blocks. Raises StoreError while there is no store."""
        with self._turn:
            return State(
                self._store.snapshot(),
                self._node.read().members,
                self._observed.read().members,
                # With many rows this is a large file.
                self._accounting.read().members if query.wants(Kind.ACCOUNTING) else {},
                self._drops.read().members,
                self._proxies.read().members,
                self._alarms.read().members,
            )

    def accounting(self) -> Members:
        """The rows of accounting alone. Blocks."""
        with self._turn:
            return self._accounting.read().members

    def close(self) -> None:
        with self._turn:
            self._store.close()
