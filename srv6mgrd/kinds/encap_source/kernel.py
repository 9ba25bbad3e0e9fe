"""The source address of encapsulated packets, by generic netlink (net/ipv6/seg6.c)."""

from __future__ import annotations

import errno
from ipaddress import IPv6Address

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.kernel_kind import Decode, Host, KernelKind, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject

# linux/genetlink.h
_GENL_ID_CTRL = 0x10
_CTRL_CMD_GETFAMILY = 3
_CTRL_ATTR_FAMILY_ID = 1
_CTRL_ATTR_FAMILY_NAME = 2
_CTRL_VERSION = 2
# linux/seg6_genl.h
_SEG6_GENL_NAME = "SEG6"
_SEG6_GENL_VERSION = 1
_SEG6_CMD_SET_TUNSRC = 3
_SEG6_CMD_GET_TUNSRC = 4
_SEG6_ATTR_DST = 1

_NONE = IPv6Address(0)


class EncapSources(KernelKind):
    kinds = (EncapSource,)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._seg6 = Seg6()

    def close(self) -> None:
        self._seg6.close()

    def write(self, batch: Batch, action: Action) -> Failure | None:
        source = action.object
        if not isinstance(source, EncapSource):
            return not_ours_to_write(source)
        address = None if isinstance(action, Delete) else source.address
        return batch.call(lambda: self._seg6.set_source(address))

    def dump(self, reader: Reader) -> Decode:
        address = self._seg6.source()
        if address is None:
            return dict
        return lambda: self.by_key([ObservedObject(EncapSource(address), ours=False)])


class Seg6:
    """Reads and sets ``ip sr tunsrc`` of the network namespace it was made in."""

    def __init__(self) -> None:
        self._socket = NetlinkSocket(wire.NETLINK_GENERIC)
        self._family = self._find()

    def close(self) -> None:
        self._socket.close()

    def source(self) -> IPv6Address | None:
        """None when unset (the kernel then picks one), or when the kernel has no SRv6."""
        if not self._family:
            return None
        answer = self._socket.read(self._message(_SEG6_CMD_GET_TUNSRC))
        if isinstance(answer, Failure):
            raise KernelError("ip sr tunsrc", answer.message, "run with CAP_NET_ADMIN")
        found = wire.attribute_map(answer, wire.GENLMSGHDR.size).get(_SEG6_ATTR_DST)
        address = IPv6Address(bytes(found)) if found is not None else _NONE
        return None if address == _NONE else address

    def set_source(self, address: IPv6Address | None) -> Failure | None:
        if not self._family:
            return Failure(errno.EOPNOTSUPP, "this kernel has no SRv6 (CONFIG_IPV6_SEG6_LWTUNNEL)")
        value = wire.nla(_SEG6_ATTR_DST, (address or _NONE).packed)
        return self._socket.write([self._message(_SEG6_CMD_SET_TUNSRC, value)]).get(0)

    def _message(self, command: int, attributes: bytes = b"") -> bytes:
        head = wire.GENLMSGHDR.pack(command, _SEG6_GENL_VERSION)
        return wire.message(self._family, 0, head + attributes)

    def _find(self) -> int:
        head = wire.GENLMSGHDR.pack(_CTRL_CMD_GETFAMILY, _CTRL_VERSION)
        name = wire.nla_text(_CTRL_ATTR_FAMILY_NAME, _SEG6_GENL_NAME)
        answer = self._socket.read(wire.message(_GENL_ID_CTRL, 0, head + name))
        if isinstance(answer, Failure):
            return 0
        found = wire.attribute_map(answer, wire.GENLMSGHDR.size)
        return wire.u16(found[_CTRL_ATTR_FAMILY_ID])
