"""Be the only controller: an election of etcd, held by a lease that is kept alive.

A controller that is cut off loses its lease after ``TTL_S`` and another one may lead. Each write
compares that the key of the leadership is still there, so the first one cannot write any more.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from srv6net.store.etcd_client import EtcdClient, UnansweredError
from srv6net.store.etcd_messages import CREATE, EQUAL, message
from srv6net.transaction.ports import BusyError, StoreError

TTL_S = 15
# Seconds to be elected where nobody leads.
_CAMPAIGN_S = 3.0


class Leadership:
    """``guard`` is for the comparisons of each write."""

    def __init__(self, client: EtcdClient, name: str, store: str) -> None:
        self._client, self._name, self._store = client, name, store
        self._key = ""
        self._revision = 0

    @property
    def guard(self) -> list[Any]:
        if not self._key:
            return []
        return [
            message("Compare")(
                result=EQUAL,
                target=CREATE,
                key=self._key.encode(),
                create_revision=self._revision,
            )
        ]

    def check(self) -> None:
        """Raises StoreError where this controller led, and another one may lead now."""
        if self._key and not self._client.txn(self.guard):
            raise StoreError(
                f"store {self._store}: this controller no longer leads, since etcd did not hear of"
                f" it for {TTL_S} s; run srv6net resume"
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        if others := self._client.below(f"{self._name}/"):
            raise self._busy(others[0].value.decode())
        lease = self._client.granted(TTL_S)
        ended = threading.Event()
        keeper = threading.Thread(
            target=self._keep, args=(lease, ended), name="etcd-lease", daemon=True
        )
        keeper.start()
        try:
            who = f"{socket.gethostname()} (process {os.getpid()})"
            try:
                elected = self._client.campaign(self._name, lease, who, _CAMPAIGN_S)
            except UnansweredError:
                others = self._client.below(f"{self._name}/")
                if not others:
                    raise
                raise self._busy(others[0].value.decode()) from None
            self._key, self._revision = elected
            yield
        finally:
            self._key = ""
            ended.set()
            keeper.join()
            # Where nobody answers, the lease ends by itself.
            with suppress(StoreError):
                self._client.revoke(lease)

    def _keep(self, lease: int, ended: threading.Event) -> None:
        while not ended.wait(TTL_S / 5):
            with suppress(StoreError):
                if not self._client.keep_alive(lease):
                    return

    def _busy(self, who: str) -> BusyError:
        return BusyError(
            f"store {self._store}: another srv6net changes the network, on {who}; wait until it"
            " ends"
        )
