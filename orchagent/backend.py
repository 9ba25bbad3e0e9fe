"""The place where a SAI backend plugs in.

``graph`` has the desired objects, with references among them; a backend makes them. The one
that is shipped, ``asic``, writes into ASIC_DB what an ASIC would be asked for. One for hardware
would call a SAI here: ``create_my_sid_entry`` and so on, the attributes being SAI's own by name,
the references object identifiers that it has from its own creates.

What it can rely on: operations come in an order that SAI accepts (what is referred to exists, what
is removed is not referred to any more); a ``Change`` holds none but attributes that SAI lets be
set; one batch at a time. It has to return the operations that were rejected; those count as not
done, and what was made for them alone is removed next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from orchagent.nodes import Node, Operation


class Rejected(NamedTuple):
    """An operation on this node was not carried out."""

    node: Node
    reason: str


class Backend(Protocol):
    """Raises WireError when it is lost; then all starts over."""

    async def begin(self) -> None:
        """Learn the objects that exist from before. Nothing is removed yet."""
        ...

    async def apply(self, operations: Sequence[Operation]) -> list[Rejected]:
        """Carry them out, in this order. A Create of an object that exists changes it at most."""
        ...

    async def sweep(self) -> None:
        """Remove objects from before the start that were not created since."""
        ...
