"""Where the programs hang: links to tcx (Linux 6.6, kernel/bpf/tcx.c), pinned in a folder of ours.

A pinned link outlives srv6mgrd, and goes with nobody's qdisc or filter. Programs of others on the
same interface run before and behind ours; what ours don't care about goes on to them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import EGRESS, INGRESS, LinkInfo
from srv6mgrd.netlink.errors import Failure

_EXPEDITED = Path("/sys/kernel/rcu_expedited")
# So few are hung without haste.
_FEW = 8


class Hooks:
    """The links pinned in ``folder``, by interface and side."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attached(self) -> Iterator[LinkInfo]:
        return (found for _, found in self._links())

    def hang(self, ifindex: int, side: int, program: int) -> Failure | None:
        """Run a program, given by its descriptor, behind those that are there. One of ours that
        hangs there already changes its program between two packets."""
        pin = self._pin(ifindex, side)
        if (fd := libbpf.pinned(pin)) is not None:
            with _closing(fd):
                if libbpf.link_info(fd).ifindex == ifindex:
                    return libbpf.update_link(fd, program)
            pin.unlink()
        made = libbpf.link(program, ifindex, side)
        if isinstance(made, Failure):
            return made
        with _closing(made):
            self._folder.mkdir(exist_ok=True)
            return libbpf.pin({pin.name: made}, self._folder)

    def take_down(self, ifindex: int, side: int) -> None:
        pin = self._pin(ifindex, side)
        if (fd := libbpf.pinned(pin)) is not None:
            with _closing(fd):
                # Somebody else may hold it too.
                libbpf.detach_link(fd)
            pin.unlink()

    def tidy(self) -> None:
        """Unpin what was on interfaces that are gone."""
        for pin, found in self._links():
            if not found.ifindex:
                pin.unlink()

    def _links(self) -> Iterator[tuple[Path, LinkInfo]]:
        for pin in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            if (fd := libbpf.pinned(pin)) is not None:
                with _closing(fd):
                    found = libbpf.link_info(fd)
                yield pin, found

    def _pin(self, ifindex: int, side: int) -> Path:
        # The kernel rejects a name with a dot, which an interface's may have (bpf_lookup).
        return self._folder / f"{ifindex}-{ {INGRESS: 'ingress', EGRESS: 'egress'}[side] }"


@contextlib.contextmanager
def haste(changes: int) -> Iterator[None]:
    """Each change of what hangs somewhere waits for a grace period of RCU (tcx_entry_sync): 10 ms,
    a hundredth of it when they are expedited. That is a switch of the whole kernel, so only for
    many changes, and not where it can't be written or somebody has turned it already."""
    hurried = False
    with contextlib.suppress(OSError):
        if changes > _FEW and _EXPEDITED.read_text().strip() == "0":
            _EXPEDITED.write_text("1")
            hurried = True
    try:
        yield
    finally:
        if hurried:
            _EXPEDITED.write_text("0")


@contextlib.contextmanager
def _closing(fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(fd)
