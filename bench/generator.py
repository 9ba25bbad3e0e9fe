"""Packets into an interface of the present network namespace, from within the kernel
(BPF_PROG_TEST_RUN with live frames), and how many of them arrived."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.kinds.sid import bpf
from srv6mgrd.netlink.errors import Failure

SOURCE = Path(__file__).with_name("generator.bpf.c")
MAX_FRAME = 320
# linux/bpf.h
_TEST_RUN = 10
_LIVE_FRAMES = 1 << 1
_BATCH = 64
FIRST = bytes(4)
CORE = (os.cpu_count() or 1) - 1


class Generator:
    """``folder`` is a new one below a BPF file system. ``clock`` are nanoseconds of CPU time, or of
    the day where the kernel knows CPU time only in ticks. Needs clang."""

    _PROGRAM = "generate"
    _SOURCE = SOURCE

    def __init__(self, folder: Path, clock: Callable[[], int] = time.thread_time_ns) -> None:
        self._folder = folder
        self._clock = clock
        folder.mkdir()
        include = f"-I/usr/include/{platform.machine()}-linux-gnu"
        compiled = Path("/tmp") / f"generator-{os.getpid()}.o"
        target = ["-O2", "-g", "--target=bpf", "-mcpu=v3"]
        command = ["clang", *target, include, "-c", str(self._SOURCE), "-o", str(compiled)]
        subprocess.run(command, check=True)
        loaded = libbpf.load(compiled, folder)
        compiled.unlink()
        if isinstance(loaded, Failure):
            raise RuntimeError(loaded.message)
        self._program = loaded[self._PROGRAM]
        self.counter = loaded["count"]
        self._frames = pinned_map(folder / "frames", MAX_FRAME)
        self._arrived = pinned_map(folder / "arrived", 8 * libbpf.possible_cpus())

    def close(self) -> None:
        for pin in list(self._folder.iterdir()):
            pin.unlink()
        self._folder.rmdir()

    def run(self, ifindex: int, frame: bytes, packets: int) -> tuple[float, int]:
        """Nanoseconds for each packet, and how many arrived."""
        self._load(frame)
        before = self._count()
        with undisturbed(CORE):
            # All that softirqs do for the packets is charged to this thread.
            started = self._clock()
            self._inject(ifindex, frame, packets)
            took = self._clock() - started
        return took / packets, self._count() - before

    def _load(self, frame: bytes) -> None:
        assert len(frame) <= MAX_FRAME
        self._frames.put(FIRST, frame.ljust(MAX_FRAME, b"\0"))

    def _inject(self, ifindex: int, frame: bytes, packets: int, batch: int = _BATCH) -> None:
        data = ctypes.create_string_buffer(frame, len(frame))
        # struct xdp_md: data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex
        context = struct.pack("=6I", 0, len(frame), 0, ifindex, 0, 0)
        given = ctypes.create_string_buffer(context, len(context))
        # prog_fd, retval, data_size_in, data_size_out, data_in, data_out, repeat, duration,
        # ctx_size_in, ctx_size_out, ctx_in, ctx_out, flags, cpu, batch_size
        attributes = struct.pack(
            "=IIIIQQIIIIQQIII",
            self._program, 0, len(frame), 0, ctypes.addressof(data), 0, packets, 0,
            len(context), 0, ctypes.addressof(given), 0, _LIVE_FRAMES, 0, batch,
        )  # fmt: skip
        if isinstance(failure := bpf.call(_TEST_RUN, attributes), Failure):
            raise RuntimeError(f"BPF_PROG_TEST_RUN: {failure.message}")

    def _count(self) -> int:
        found = self._arrived.get(FIRST) or b""
        return sum(struct.unpack(f"={len(found) // 8}Q", found))


def pinned_map(pin: Path, size: int) -> Map:
    fd = libbpf.pinned(pin)
    assert fd is not None
    return Map(fd, size)


@contextlib.contextmanager
def undisturbed(core: int) -> Iterator[None]:
    """On this core, before all ordinary processes where the kernel grants that: a cgroup without
    time for real-time processes has none (CONFIG_RT_GROUP_SCHED)."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cores)
