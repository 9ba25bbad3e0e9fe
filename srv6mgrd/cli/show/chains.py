"""``show chains``: service function chains, a line for each hop in each direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.chain_state import ChainState, Passed
from srv6mgrd.cli.show.functions import STYLES, count, delay
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.chains import Chain, Chains, Way, members
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    """``entered`` are the packets that classifiers of this router put onto the chain; ``of`` is the
    state of the function, ``chain_state`` that of the chain."""

    chain: Chain
    way: Way
    entered: int
    hop: int
    function: str
    group: str | None
    of: Mapping[str, Any]
    passed: Passed | None
    chain_state: Mapping[str, Any]
    status: ObjectStatus

    @property
    def health(self) -> str:
        found: str = self.of.get("function-state", "-")
        return found


def _json(row: _Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": row.chain.name,
        "direction": row.way.value,
        "classified-pkts": row.entered,
        "hop": row.hop,
        "service-function": row.function,
    }
    if row.group is not None:
        found["service-function-group"] = row.group
    if row.passed is not None:
        found |= {
            "in-pkts": row.passed.entered,
            "out-pkts": row.passed.left,
            "lost-pkts": row.passed.lost,
        }
    found |= {leaf: row.of[leaf] for leaf in ("function-state", "delay") if leaf in row.of}
    if (dropped := row.chain_state.get("dropped-pkts")) is not None:
        found["dropped-pkts"] = int(dropped)
    return found | rows.status_json(row.status)


CHAINS: Table[_Row] = Table(
    "chains",
    (
        Field("CHAIN", lambda r: Cell(r.chain.name, "name")),
        Field("DIRECTION", lambda r: r.way.value),
        rows.number("CLASSIFIED", lambda r: r.entered),
        rows.number("HOP", lambda r: r.hop),
        Field("FUNCTION", lambda r: f"{r.function} ({r.group})" if r.group else r.function),
        Field("STATE", lambda r: Cell(r.health, STYLES.get(r.health, "dim"))),
        Field("IN", lambda r: count(r.passed, "entered"), right=True),
        Field("OUT", lambda r: count(r.passed, "left"), right=True),
        Field("LOST", lambda r: count(r.passed, "lost"), right=True),
        Field("DELAY", lambda r: delay(r.of), right=True),
        Field("STATUS", lambda r: rows.status_cell(r.status)),
        Field("REASON", lambda r: r.status.reason, optional=True),
    ),
    _json,
    none="no service function chain is declared",
    name=lambda r: r.chain.name,
    filters={
        "direction": lambda r: r.way.value,
        "function": lambda r: r.function,
        "status": lambda r: r.status.status.text,
    },
)


@listed(CHAINS)
def chains(session: Session) -> Iterable[_Row]:
    """Service function chains: packets and delay of each hop."""
    desired, statuses = session.desired(), session.state.statuses()
    state = ChainState(session.state, desired)
    found: list[_Row] = []
    for name, chain in sorted(desired.chains.chains.items()):
        status = statuses.get(ObjectRef(Kind.SERVICE_FUNCTION_CHAIN, name), rows.UNKNOWN)
        found += _rows(chain, desired.chains, state, status)
    return found


def _rows(chain: Chain, of: Chains, state: ChainState, status: ObjectStatus) -> Iterator[_Row]:
    shown = state.chain(chain.name)
    for way in chain.egresses:
        entered = _entered(shown.get("path", ()), way)
        for hop in chain.hops if way is Way.FORWARD else chain.hops[::-1]:
            for function in members(hop, of):
                yield _Row(
                    chain,
                    way,
                    entered,
                    hop.index,
                    function,
                    hop.group,
                    state.function(function),
                    state.passed(function, way),
                    shown,
                    status,
                )


def _entered(paths: Sequence[Mapping[str, Any]], way: Way) -> int:
    return sum(int(path.get("pkts", 0)) for path in paths if path["direction"] == way)
