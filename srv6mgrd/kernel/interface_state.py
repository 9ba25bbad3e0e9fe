"""How declared interfaces are, in the words of the model: operational state, MTU, addresses.

It has netlink sockets of its own and dumps in a thread, so that it holds up no commit; and again
only when the kernel reports a change of a link or an address.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_interface
from typing import Any, Protocol

from srv6mgrd.jobs import to_its_end
from srv6mgrd.kinds.address import kernel as addresses
from srv6mgrd.model.desired import Desired
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.netlink.listening import discard, listening
from srv6mgrd.netlink.socket import NetlinkSocket, answers

_LOG = logging.getLogger(__name__)

PART = "interfaces"
# linux/if.h, IF_OPER_*; RFC 2863 ifOperStatus.
_OPER = (
    "unknown",
    "not-present",
    "down",
    "lower-layer-down",
    "testing",
    "dormant",
    "up",
)
_GROUPS = (wire.RTNLGRP_LINK, wire.RTNLGRP_IPV4_IFADDR, wire.RTNLGRP_IPV6_IFADDR)
_BUFFER = 1 << 20
# Changes come in bursts; what is declared is looked at as often in any case.
_SETTLE, _LOOK = 0.05, 1.0
# Of a CPU that may be spent on it.
_SHARE = 0.1

State = dict[str, Any]


class Writer(Protocol):
    """Where it goes (``counters.observed.ObservedWriter``)."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...


def states(
    link_dump: Sequence[bytes], address_dumps: Sequence[Sequence[bytes]], names: Sequence[str]
) -> dict[str, State]:
    """Of interfaces by their names: members of their container ``state``."""
    wanted = frozenset(names)
    found: dict[str, State] = {name: {"oper-status": "not-present"} for name in names}
    by_index: dict[int, str] = {}
    for body in answers(link_dump, wire.RTM_NEWLINK):
        index = wire.IFINFOMSG.unpack_from(body)[2]
        attributes = wire.attribute_map(body, wire.IFINFOMSG.size)
        name = wire.text(attributes.get(wire.IFLA_IFNAME, b""))
        if name in wanted:
            by_index[index] = name
            found[name] = _link(index, attributes)
    for datagrams in address_dumps:
        for body in answers(datagrams, wire.RTM_NEWADDR):
            if (decoded := _address(body, by_index)) is not None:
                name, entry = decoded
                found[name].setdefault("address", []).append(entry)
    return {
        name: {f"srv6mgr-interfaces:{leaf}": value for leaf, value in state.items()}
        for name, state in found.items()
    }


def _link(index: int, attributes: Mapping[int, memoryview]) -> State:
    oper = attributes[wire.IFLA_OPERSTATE][0] if wire.IFLA_OPERSTATE in attributes else 0
    state: State = {"oper-status": _OPER[oper] if oper < len(_OPER) else _OPER[0]}
    state["if-index"] = index
    if any(address := bytes(attributes.get(wire.IFLA_ADDRESS, b""))):
        state["phys-address"] = address.hex(":")
    if wire.IFLA_MTU in attributes:
        state["mtu"] = wire.u32(attributes[wire.IFLA_MTU])
    return state


def _address(body: memoryview, names: Mapping[int, str]) -> tuple[str, State] | None:
    _, length, _, _, index = wire.IFADDRMSG.unpack_from(body)
    if (name := names.get(index)) is None:
        return None
    attributes = wire.attribute_map(body, wire.IFADDRMSG.size)
    # Of a point-to-point link IFA_ADDRESS is the other end; IPv6 has IFA_LOCAL only there.
    packed = attributes.get(wire.IFA_LOCAL, attributes.get(wire.IFA_ADDRESS))
    if packed is None:
        return None
    return name, {"ip": str(ip_interface(bytes(packed)).ip), "prefix-length": length}


class InterfaceStates:
    """Keeps the state of declared interfaces current."""

    def __init__(self, desired: Callable[[], Desired], writer: Writer) -> None:
        self._desired = desired
        self._writer = writer
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        requests = NetlinkSocket()
        with contextlib.closing(requests), contextlib.closing(listening(_GROUPS, _BUFFER)) as heard:
            loop = asyncio.get_running_loop()
            loop.add_reader(heard, self._hear, heard)
            try:
                await self._follow(requests)
            finally:
                loop.remove_reader(heard)

    def _hear(self, heard: socket.socket) -> None:
        discard(heard)
        self._changed.set()

    async def _follow(self, requests: NetlinkSocket) -> None:
        known: Desired | None = None
        pause = 0.0
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._changed.wait()
            desired = self._desired()
            if not self._changed.is_set() and desired is known:
                continue
            await asyncio.sleep(max(_SETTLE, pause))
            self._changed.clear()
            known = desired = self._desired()
            began = time.monotonic()
            try:
                await to_its_end(self._read, requests, desired)
            except (KernelError, OSError) as error:
                _LOG.error("state of interfaces: %s", error)
                known = None
            else:
                self._writer.publish()
            pause = (time.monotonic() - began) / _SHARE

    def _read(self, requests: NetlinkSocket, desired: Desired) -> None:
        names = sorted({**desired.roles, **desired.interfaces})
        if not names:
            self._writer.stage(PART, {})
            return
        found = states(
            requests.dump(links.get_all()),
            [requests.dump(addresses.get_all(family)) for family in addresses.FAMILIES],
            names,
        )
        listed = [{"name": name, "state": state} for name, state in found.items()]
        self._writer.stage(PART, {"interfaces": {"interface": listed}})
