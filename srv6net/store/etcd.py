"""The store of several controllers: an etcd cluster.

The key ``transaction`` has the last transaction and is written by compare-and-swap alone; that
write is the decision. What is large is written before, under the id of the transaction:

    PREFIX/leader/...                    the controller that leads (an election of etcd)
    PREFIX/transaction                   the last transaction
    PREFIX/settled/ID/ROUTER             routers that are as it was decided
    PREFIX/overdue                       routers that have yet to get the current revision
    PREFIX/revision/NUMBER               the id of the transaction that made it
    PREFIX/content/ID/{revision,changes}/PART
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from srv6net.store import compressed, content
from srv6net.store.address import EtcdAddress
from srv6net.store.etcd_client import EtcdClient, Value, delete_below, put
from srv6net.store.etcd_messages import EQUAL, MOD, message
from srv6net.store.leadership import Leadership
from srv6net.transaction.ports import BusyError, StoreError
from srv6net.transaction.record import Decision, Record, Revision

_VERSION = "1"
# Writes of one key by others between a read and the write; only a controller that lost its
# leadership makes them.
_TRIES = 5
_Fields = dict[str, Any]


class EtcdStore:
    """Used by one thread."""

    def __init__(self, address: EtcdAddress) -> None:
        """Raises StoreError where the cluster cannot be used."""
        self._address = address
        self._client = EtcdClient(address)
        try:
            self._leadership = Leadership(self._client, self._at("leader"), str(address))
            self._check_version()
        except BaseException:
            self._client.close()
            raise

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def lead(self) -> Iterator[None]:
        with self._leadership.held():
            yield

    def revision(self, number: int | None = None) -> Revision:
        if number is None:
            number = self._number()
        if not number:
            return Revision()
        return self._content_of_revision(number)

    def history(self) -> Sequence[Revision]:
        numbers = [_number_of(one.key) for one in self._client.below(self._at("revision/"))]
        return [self._content_of_revision(number) for number in reversed(numbers)]

    def last(self) -> Record | None:
        if (found := self._client.get(self._at("transaction"))) is None:
            return None
        fields = json.loads(found.value)
        return Record(
            fields["id"],
            fields["started"],
            content.revision(self._content(fields["id"], "revision")),
            content.changes(self._content(fields["id"], "changes")),
            Decision(fields["decision"]) if fields["decision"] else None,
            tuple(fields["reasons"]),
            self._settled(fields),
            fields["touched"],
        )

    def begin(self, record: Record) -> None:
        found = self._client.get(self._at("transaction"))
        before = json.loads(found.value) if found is not None else None
        if before is not None:
            open_on = sorted(set(before["routers"]) - self._settled(before))
            if before["decision"] is None or open_on:
                raise self._open(open_on)
        if record.proposed.number != (current := self._number()) + 1:
            raise BusyError(
                f"store {self._address}: revision {current} became current meanwhile; try again"
            )
        self._write_content(record.id, "revision", content.of_revision(record.proposed))
        self._write_content(record.id, "changes", content.of_changes(record.changes))
        fields = {
            "id": record.id,
            "started": record.started,
            "number": record.proposed.number,
            "routers": sorted(record.changes),
            "touched": False,
            "decision": None,
            "reasons": [],
            "deferred": [],
        }
        writes = [put(self._at("transaction"), content.pack(fields))]
        if before is not None:
            writes.append(delete_below(self._at(f"settled/{before['id']}/")))
            if before["decision"] != Decision.COMMITTED:
                writes.append(delete_below(self._at(f"content/{before['id']}/")))
        if not self._swapped(found, *writes) and self._fields()["id"] != record.id:
            self._leadership.check()
            self._written(delete_below(self._at(f"content/{record.id}/")))
            raise self._open(self._fields()["routers"])

    def touch(self, id: str, deferred: Sequence[str] = ()) -> None:
        change = {"touched": True, "deferred": sorted(deferred)}
        self._amended(id, lambda fields: None if fields["touched"] else change)

    def decide(
        self, id: str, decision: Decision, reasons: Sequence[str], deferred: Sequence[str] = ()
    ) -> Decision:
        def amendment(fields: _Fields) -> _Fields | None:
            if fields["decision"] is not None:
                return None
            made = {"decision": decision.value, "reasons": list(reasons)}
            if decision is Decision.COMMITTED:
                made["deferred"] = sorted({*fields["deferred"], *deferred})
            return made

        return Decision(self._amended(id, amendment)["decision"])

    def settle(self, id: str, router: str) -> None:
        self._written(put(self._at(f"settled/{id}/{router}"), ""))

    def overdue(self) -> Mapping[str, Sequence[int]]:
        found = self._client.get(self._at("overdue"))
        return {} if found is None else {n: tuple(v) for n, v in json.loads(found.value).items()}

    def set_overdue(self, router: str, numbers: Sequence[int]) -> None:
        known = {**self.overdue(), router: tuple(numbers)}
        kept = {name: of for name, of in known.items() if of}
        self._written(put(self._at("overdue"), content.pack(kept)))

    def _amended(self, id: str, amendment: Callable[[_Fields], _Fields | None]) -> _Fields:
        """The transaction after an amendment, or as it is where there is none to make."""
        for _ in range(_TRIES):
            found = self._client.get(self._at("transaction"))
            fields = json.loads(found.value) if found is not None else {}
            if fields.get("id") != id:
                raise StoreError(f"store {self._address}: there is no transaction {id}; try again")
            if (change := amendment(fields)) is None:
                return dict(fields)
            made = {**fields, **change}
            writes = [put(self._at("transaction"), content.pack(made))]
            if change.get("decision") == Decision.COMMITTED:
                writes.append(put(self._at(f"revision/{made['number']:010}"), id))
                if change["deferred"]:
                    before = dict.fromkeys(change["deferred"], (made["number"] - 1,))
                    known = {**before, **self.overdue()}
                    writes.append(put(self._at("overdue"), content.pack(known)))
            if self._swapped(found, *writes):
                return made
            self._leadership.check()
        raise StoreError(f"store {self._address}: others write to it all the time; try again")

    def _swapped(self, before: Value | None, *operations: Any) -> bool:
        """Write where the last transaction is still as it was read, and this controller leads."""
        compare = message("Compare")(
            result=EQUAL,
            target=MOD,
            key=self._at("transaction").encode(),
            mod_revision=before.mod_revision if before is not None else 0,
        )
        return self._client.txn([compare, *self._leadership.guard], *operations)

    def _written(self, *operations: Any) -> None:
        if not self._client.txn(self._leadership.guard, *operations):
            self._leadership.check()

    def _fields(self) -> _Fields:
        found = self._client.get(self._at("transaction"))
        return dict(json.loads(found.value)) if found is not None else {"id": "", "routers": []}

    def _number(self) -> int:
        """Of the current revision."""
        fields = self._fields()
        if not fields["id"]:
            return 0
        number = int(fields["number"])
        return number if fields["decision"] == Decision.COMMITTED else number - 1

    def _content_of_revision(self, number: int) -> Revision:
        found = self._client.get(self._at(f"revision/{number:010}"))
        if found is None:
            raise StoreError(
                f"revision {number}: the store has none of this number; see srv6net status"
            )
        return content.revision(self._content(found.value.decode(), "revision"))

    def _settled(self, fields: _Fields) -> frozenset[str]:
        prefix = self._at(f"settled/{fields['id']}/")
        found = {one.key.removeprefix(prefix) for one in self._client.below(prefix)}
        return frozenset(found.union(fields["deferred"]))

    def _write_content(self, id: str, name: str, text: str) -> None:
        for number, part in enumerate(compressed.parts(text)):
            self._written(put(self._at(f"content/{id}/{name}/{number:06}"), part))

    def _content(self, id: str, name: str) -> str:
        return compressed.joined(
            v.value for v in self._client.below(self._at(f"content/{id}/{name}/"))
        )

    def _check_version(self) -> None:
        found = self._client.get(self._at("version"))
        if found is None:
            self._client.txn([], put(self._at("version"), _VERSION))
        elif found.value.decode() != _VERSION:
            raise StoreError(
                f"store {self._address}: it has version {found.value.decode()}; use the srv6net"
                " that made it"
            )

    def _open(self, routers: Sequence[str]) -> BusyError:
        return BusyError(
            f"store {self._address}: a transaction is open on routers {', '.join(routers)};"
            " resume it first"
        )

    def _at(self, key: str) -> str:
        return f"{self._address.prefix}/{key}"


def _number_of(key: str) -> int:
    return int(key.rpartition("/")[2])
