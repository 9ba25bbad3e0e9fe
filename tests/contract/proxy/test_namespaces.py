"""Managers of several network namespaces on one BPF file system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.proxy.programs import Programs
from tests.contract.kernel.conftest import Run, own_namespace
from tests.contract.proxy.conftest import Node, built, proxy
from tests.contract.proxy.packets import REDIRECT, inner6, routed

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("compiled")]


@contextmanager
def manager(run: Run) -> Iterator[Node]:
    """In a network namespace of its own, with its pins where srv6mgrd has them."""
    with own_namespace():
        programs = Programs()
        try:
            with built(programs, run) as made:
                yield made
        finally:
            programs.remove()


def passes(node: Node) -> bool:
    return node.toward(routed(inner6()))[0] == REDIRECT


def test_each_has_its_own_proxies(run: Run) -> None:
    """The same SID on interfaces of the same name: nothing of one gets to the other."""
    with manager(run) as first:
        first.declare(proxy(Behavior.END_AD))
        assert passes(first)
        learned = first.chain()
        with manager(run) as second:
            assert second.programs.folder != first.programs.folder
            second.declare(proxy(Behavior.END_AM))
            assert passes(second)
            assert passes(second)
            assert second.counts().to_packets == 2

        # The second one is gone, with all that it pinned.
        assert not second.programs.folder.exists()
        assert first.programs.intact
        assert first.counts().to_packets == 1
        assert first.chain() == learned
        assert passes(first)


def test_a_restart_finds_its_own_pins(run: Run) -> None:
    with manager(run) as node:
        node.declare(proxy())
        assert passes(node)

        again = Programs()

        assert again.folder == node.programs.folder
        assert again.intact
