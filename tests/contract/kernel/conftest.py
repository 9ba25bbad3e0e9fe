"""Each test has a network namespace of its own, which ends with it. Needs root."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.sid import bpf
from srv6mgrd.model.reserved import LINK_ALIAS, SID_DEVICE
from srv6mgrd.plan.actions import Create

_CLONE_NEWNET = 0x40000000
# linux/bpf.h
_LWT_SEG6LOCAL = 19
_BPF_OBJ_PIN = 6
_INSTRUCTION = struct.Struct("=BBhi")
_MOVE, _EXIT = 0xB7, 0x95
_LIBC = ctypes.CDLL(None, use_errno=True)

Run = Callable[[str], str]


def encap_of(route: dict[str, Any]) -> dict[str, Any]:
    """The encapsulation in ``ip -j route``: under ``encap``, or beside it in old iproute2."""
    encap: str | dict[str, Any] = route["encap"]
    return route if isinstance(encap, str) else encap


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def own_namespace() -> Iterator[None]:
    """A network namespace, for this thread and what it starts."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        _check(_LIBC.unshare(_CLONE_NEWNET))
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        yield
    finally:
        _check(_LIBC.setns(home, _CLONE_NEWNET))
        os.close(home)


@pytest.fixture
def namespace() -> Iterator[None]:
    if os.geteuid():
        pytest.skip("needs root")
    with own_namespace():
        yield


@pytest.fixture
def run(namespace: None) -> Run:
    """Runs a shell command in the namespace and returns what it prints."""

    def run(command: str) -> str:
        done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
        return done.stdout

    return run


@pytest.fixture
def kernel(namespace: None) -> Iterator[LinuxKernel]:
    made = LinuxKernel()
    yield made
    made.close()


@pytest.fixture
def sid_device(kernel: LinuxKernel, run: Run) -> str:
    """The device of the SIDs; where the kernel has no dummy, a veth is used."""
    if kernel.apply([Create(DummyDevice(SID_DEVICE))]):
        run(
            f"ip link add {SID_DEVICE} type veth peer name peer0; ip link set peer0 up;"
            f"ip link set {SID_DEVICE} alias {LINK_ALIAS} up"
        )
        # linkwatch_do_dev() reports the carrier of a veth later, at most once a second.
        wait_until(
            lambda: "state UP" in run(f"ip link show {SID_DEVICE}"), f"carrier of {SID_DEVICE}",
            seen=lambda: run("ip link"),
        )  # fmt: skip
    return SID_DEVICE


def has_vrf() -> bool:
    """Whether the kernel has VRF devices."""
    probe = "ip link add probe type vrf table 4242 && ip link del probe"
    return not subprocess.run(probe, shell=True, check=False, capture_output=True).returncode


@pytest.fixture
def vrf(namespace: None) -> None:
    """Skips where the kernel has no VRF device."""
    if not has_vrf():
        pytest.skip("kernel without VRF")
    # The rule that comes with the first VRF of a namespace stays; that is the kernel's way.


@pytest.fixture
def pinned(tmp_path: Path) -> Iterator[str]:
    """A BPF program for End.BPF, pinned."""
    subprocess.run(["mount", "-t", "bpf", "bpf", str(tmp_path)], check=True)
    try:
        path = str(tmp_path / "program")
        pin(path)
        yield path
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def pin(path: str, answer: int = 0) -> None:
    """Load a program for End.BPF that returns this (0 is BPF_OK, 2 BPF_DROP), and pin it; the test
    is skipped where there are none."""
    code = _INSTRUCTION.pack(_MOVE, 0, 0, answer) + _INSTRUCTION.pack(_EXIT, 0, 0, 0)
    program = bpf.load(_LWT_SEG6LOCAL, code)
    if not isinstance(program, int):
        pytest.skip(f"no seg6local BPF programs: {program.message}")
    name = ctypes.create_string_buffer(path.encode())
    pinned = bpf.call(_BPF_OBJ_PIN, struct.pack("=QII", ctypes.addressof(name), program, 0))
    os.close(program)
    assert pinned == 0
