"""The programs in the kernel: attached while SIDs are watched, with nothing pinned, so that they go
with srv6mgrd."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

from srv6mgrd.drops import layout
from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.model.drops import WatchedLink, WatchedSid
from srv6mgrd.netlink.errors import Failure, KernelError

OBJECT = Path("/usr/lib/srv6mgr/drops.bpf.o")
_TRACE = "drop_trace.bpf.o"


class DropProgram:
    """``drops.watch.Program`` in the kernel. Not thread-safe.

    Once loaded it stays so, attached to nothing: the verifier takes most of a second for it.
    """

    def __init__(self, path: Path = OBJECT) -> None:
        self._path = path
        self._program: int | None = None
        # The program at the kernel's drops, where the kernel has tracing, and its tracepoint.
        self._tracer: int | None = None
        self._tracepoint: int | None = None
        self._maps: dict[str, Map] = {}
        # Links to tcx, by ifindex.
        self._links: dict[int, int] = {}
        self._written: dict[bytes, bytes] = {}
        self._states: dict[bytes, bytes] = {}

    def watch(self, interfaces: Collection[int]) -> Failure | None:
        """Have it run at the ingress of these interfaces alone."""
        if self._program is None and (failure := self._load()) is not None:
            return failure
        assert self._program is not None
        if self._tracer is not None and self._tracepoint is None:
            opened = libbpf.trace(self._tracer, "kfree_skb")
            self._tracepoint = None if isinstance(opened, Failure) else opened
        for ifindex in self._links.keys() - set(interfaces):
            os.close(self._links.pop(ifindex))
        for ifindex in set(interfaces) - self._links.keys():
            made = libbpf.link(self._program, ifindex, libbpf.INGRESS)
            if isinstance(made, int):
                self._links[ifindex] = made
            elif made.errno != errno.ENODEV:
                return made
        return None

    def write(
        self, sids: Mapping[int, WatchedSid], links: Mapping[int, WatchedLink], one_of: int = 1
    ) -> Failure | None:
        """Watch these SIDs by the places where they are counted, and look at one packet of
        ``one_of``, a power of two."""
        wanted = {layout.prefix_key(s.prefix): layout.watched(n, s) for n, s in sids.items()}
        failure = self._replace(self._maps["sids"], self._written, wanted)
        # The others of so many are taken for up.
        known = islice(links.items(), layout.MAX_LINKS)
        states = {layout.NUMBER.pack(index): layout.link(state) for index, state in known}
        failure = failure or self._replace(self._maps["interfaces"], self._states, states)
        lengths = [sid.prefix.prefixlen for sid in sids.values()]
        node = layout.node(lengths, one_of, traced=self.traces)
        return failure or self._maps["nodes"].put(layout.NUMBER.pack(0), node)

    @staticmethod
    def _replace(
        where: Map, written: dict[bytes, bytes], wanted: Mapping[bytes, bytes]
    ) -> Failure | None:
        for key in written.keys() - wanted.keys():
            where.delete(key)
            del written[key]
        for key, value in wanted.items():
            if written.get(key) != value:
                if failure := where.put(key, value):
                    return failure
                written[key] = value
        return None

    def counts(self) -> dict[tuple[int, int], int]:
        """Packets by place and number of the reason."""
        counts = self._maps["counts"].items(layout.NUMBER.size)
        return {
            layout.place_of(layout.NUMBER.unpack(key)[0]): _sum(values) for key, values in counts
        }

    def runs(self) -> Sequence[int]:
        """For how many packets it ran, by CPU."""
        values = self._maps["runs"].get(layout.NUMBER.pack(0)) or b""
        return [count for (count,) in layout.RUNS.iter_unpack(values)]

    def end(self) -> None:
        """It runs nowhere any more, and counts from 0 when it does again."""
        for fd in self._links.values():
            os.close(fd)
        if self._tracepoint is not None:
            os.close(self._tracepoint)
        self._links, self._tracepoint = {}, None
        if self._program is None:
            return
        self.write({}, {})
        for key in [key for key, _ in self._maps["counts"].items(layout.NUMBER.size)]:
            self._maps["counts"].delete(key)
        runs = self._maps["runs"]
        runs.put(layout.NUMBER.pack(0), bytes(runs.value_size))

    def close(self) -> None:
        """It is no longer loaded."""
        self.end()
        for found in self._maps.values():
            found.close()
        for program in (self._program, self._tracer):
            if program is not None:
                os.close(program)
        self._program = self._tracer = None
        self._maps, self._written, self._states = {}, {}, {}

    @property
    def traces(self) -> bool:
        """Whether the kernel's own drops are seen, too."""
        return self._tracepoint is not None

    def _load(self) -> Failure | None:
        try:
            loaded = libbpf.load_with_maps(self._path)
        except KernelError as error:
            # Without libbpf.
            return Failure.of(errno.ENOENT, str(error))
        if isinstance(loaded, Failure):
            return loaded
        programs, maps = loaded
        self._program = programs["watch"]
        self._maps = {name: Map(fd, libbpf.read_size(fd)) for name, fd in maps.items()}
        self._load_tracer(maps)
        return None

    def _load_tracer(self, maps: Mapping[str, int]) -> None:
        """For the kernel's own drops, if it has BTF and CONFIG_BPF_EVENTS."""
        loaded = libbpf.load_with_maps(self._path.with_name(_TRACE), maps)
        if isinstance(loaded, Failure):
            return
        programs, duplicates = loaded
        self._tracer = programs["trace"]
        for fd in duplicates.values():
            os.close(fd)


def _sum(values: bytes) -> int:
    """Over all CPUs."""
    return sum(count for (count,) in layout.COUNT.iter_unpack(values))
