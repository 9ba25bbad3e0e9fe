"""Netlink messages as bytes: header, attributes, and the constants with their header names."""

from __future__ import annotations

import struct
from collections.abc import Iterator

# linux/netlink.h
NETLINK_ROUTE = 0
NETLINK_GENERIC = 16
NLM_F_REQUEST = 0x1
NLM_F_MULTI = 0x2
NLM_F_ACK = 0x4
NLM_F_DUMP_INTR = 0x10
NLM_F_DUMP = 0x300
NLM_F_REPLACE = 0x100
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400
NLM_F_CAPPED = 0x100
NLM_F_ACK_TLVS = 0x200
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLMSGERR_ATTR_MSG = 1
NLA_F_NESTED = 0x8000
NLA_TYPE_MASK = 0x3FFF
SOL_NETLINK = 270
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
NETLINK_GET_STRICT_CHK = 12
NETLINK_ADD_MEMBERSHIP = 1

# linux/rtnetlink.h
RTM_NEWLINK = 16
RTM_DELLINK = 17
RTM_GETLINK = 18
RTM_SETLINK = 19
RTM_NEWADDR = 20
RTM_DELADDR = 21
RTM_GETADDR = 22
RTM_NEWROUTE = 24
RTM_DELROUTE = 25
RTM_GETROUTE = 26
RTM_NEWNEIGH = 28
RTM_DELNEIGH = 29
RTM_GETNEIGH = 30
RTM_NEWRULE = 32
RTM_DELRULE = 33
RTM_GETRULE = 34
RTM_NEWNEXTHOP = 104
RTM_GETNEXTHOP = 106
RTM_NEWNETCONF = 80
RTNLGRP_LINK = 1
RTNLGRP_NEIGH = 3
RTNLGRP_IPV4_IFADDR = 5
RTNLGRP_IPV4_ROUTE = 7
RTNLGRP_IPV6_IFADDR = 9
RTNLGRP_IPV6_ROUTE = 11
RTNLGRP_IPV4_RULE = 8
RTNLGRP_IPV6_RULE = 19
RTNLGRP_IPV4_NETCONF = 24
RTNLGRP_IPV6_NETCONF = 25
# linux/netconf.h
NETCONFA_FORWARDING = 2
NETCONFA_RP_FILTER = 3
RTA_DST = 1
RTA_SRC = 2
RTA_OIF = 4
RTA_GATEWAY = 5
RTA_PRIORITY = 6
RTA_METRICS = 8
RTA_MULTIPATH = 9
RTA_CACHEINFO = 12
RTA_TABLE = 15
RTA_PREF = 20
RTA_ENCAP_TYPE = 21
RTA_ENCAP = 22
RTA_NH_ID = 30
RTN_UNICAST = 1
RTN_LOCAL = 2
RTPROT_KERNEL = 2
RTPROT_BGP = 186
RT_TABLE_MAIN = 254
RTN_UNREACHABLE = 7
RTNH_F_DEAD = 1
RTNH_F_ONLINK = 4
RTNH_F_LINKDOWN = 16
RT_SCOPE_LINK = 253
RT_SCOPE_NOWHERE = 255
RTAX_MTU = 2
RTAX_HOPLIMIT = 10

# linux/lwtunnel.h, linux/seg6_local.h, linux/seg6_iptunnel.h
LWTUNNEL_ENCAP_SEG6 = 5
LWTUNNEL_ENCAP_SEG6_LOCAL = 7
SEG6_LOCAL_ACTION = 1
SEG6_LOCAL_SRH = 2
SEG6_LOCAL_TABLE = 3
SEG6_LOCAL_NH4 = 4
SEG6_LOCAL_NH6 = 5
SEG6_LOCAL_OIF = 7
SEG6_LOCAL_BPF = 8
SEG6_LOCAL_VRFTABLE = 9
SEG6_LOCAL_COUNTERS = 10
SEG6_LOCAL_FLAVORS = 11
SEG6_LOCAL_BPF_PROG = 1
SEG6_LOCAL_BPF_PROG_NAME = 2
SEG6_LOCAL_CNT_PACKETS = 2
SEG6_LOCAL_CNT_BYTES = 3
SEG6_LOCAL_CNT_ERRORS = 4
SEG6_LOCAL_FLV_OPERATION = 1
SEG6_LOCAL_FLV_LCBLOCK_BITS = 2
SEG6_LOCAL_FLV_LCNODE_FN_BITS = 3
SEG6_IPTUNNEL_SRH = 1
SEG6_IPTUNNEL_SRC = 2
SEG6_IPTUNNEL_TABLE = 3

# linux/if_link.h
IFLA_ADDRESS = 1
IFLA_IFNAME = 3
IFLA_MTU = 4
IFLA_LINK = 5
IFLA_MASTER = 10
IFLA_OPERSTATE = 16
IFLA_LINKINFO = 18
IFLA_IFALIAS = 20
IFLA_EXT_MASK = 29
IFLA_LINK_NETNSID = 37
IFLA_TARGET_NETNSID = 46
IFLA_INFO_KIND = 1
IFLA_INFO_DATA = 2
IFLA_VRF_TABLE = 1
IFLA_VLAN_ID = 1
IFLA_VLAN_FLAGS = 2
IFLA_VLAN_PROTOCOL = 5
# linux/if_vlan.h
VLAN_FLAG_LOOSE_BINDING = 0x4
RTEXT_FILTER_SKIP_STATS = 1 << 3
IFF_UP = 1
IFF_LOWER_UP = 1 << 16
ARPHRD_ETHER = 1
# linux/if_ether.h, in network order
ETH_P_8021Q = b"\x81\x00"

# linux/if_addr.h
IFA_ADDRESS = 1
IFA_LOCAL = 2
IFA_PROTO = 11
IFA_F_NODAD = 0x02

# linux/neighbour.h
NDA_DST = 1
NDA_LLADDR = 2
NUD_FAILED = 0x20

# linux/nexthop.h
NHA_ID = 1
NHA_GROUP = 2
NHA_ENCAP_TYPE = 7
NHA_ENCAP = 8

# linux/fib_rules.h
FRA_DST = 1
FRA_SRC = 2
FRA_PRIORITY = 6
FRA_SUPPRESS_PREFIXLEN = 14
FRA_TABLE = 15
FRA_L3MDEV = 19
FRA_PROTOCOL = 21
FR_ACT_TO_TBL = 1

NLMSGHDR = struct.Struct("=IHHII")
RTMSG = struct.Struct("=BBBBBBBBI")
IFINFOMSG = struct.Struct("=BxHiII")
IFADDRMSG = struct.Struct("=BBBBI")
NDMSG = struct.Struct("=BxHiHBB")
NHMSG = struct.Struct("=BBBBI")
# struct rtnexthop, struct nexthop_grp
RTNEXTHOP = struct.Struct("=HBBi")
NEXTHOP_GRP = struct.Struct("=IBBH")
GENLMSGHDR = struct.Struct("=BBxx")
_NLATTR = struct.Struct("=HH")
_U8 = struct.Struct("=B")
_U16 = struct.Struct("=H")
_U32 = struct.Struct("=I")
_U64 = struct.Struct("=Q")

Buffer = bytes | memoryview


def message(kind: int, flags: int, body: bytes) -> bytes:
    """A request with sequence number 0; the socket writes the number when it sends."""
    return NLMSGHDR.pack(NLMSGHDR.size + len(body), kind, NLM_F_REQUEST | flags, 0, 0) + body


def nla(kind: int, value: bytes) -> bytes:
    return _NLATTR.pack(4 + len(value), kind) + value + bytes(-len(value) % 4)


def nla_u8(kind: int, value: int) -> bytes:
    return nla(kind, _U8.pack(value))


def nla_u16(kind: int, value: int) -> bytes:
    return nla(kind, _U16.pack(value))


def nla_u32(kind: int, value: int) -> bytes:
    return nla(kind, _U32.pack(value))


def nla_u64(kind: int, value: int) -> bytes:
    return nla(kind, _U64.pack(value))


def nla_text(kind: int, value: str) -> bytes:
    return nla(kind, value.encode() + b"\0")


def nested(kind: int, *attributes: bytes) -> bytes:
    return nla(kind | NLA_F_NESTED, b"".join(attributes))


def u8(value: Buffer) -> int:
    return value[0]


def u16(value: Buffer) -> int:
    number: int = _U16.unpack_from(value)[0]
    return number


def u32(value: Buffer) -> int:
    number: int = _U32.unpack_from(value)[0]
    return number


def u64(value: Buffer) -> int:
    number: int = _U64.unpack_from(value)[0]
    return number


def text(value: Buffer) -> str:
    return bytes(value).rstrip(b"\0").decode(errors="replace")


def attributes(data: Buffer, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Type, offset and length of the value of each attribute from ``start`` on."""
    end = len(data)
    while start + 4 <= end:
        length, kind = _NLATTR.unpack_from(data, start)
        if length < 4 or start + length > end:
            return
        yield kind & NLA_TYPE_MASK, start + 4, length - 4
        start += (length + 3) & ~3


def attribute_map(data: Buffer, start: int = 0) -> dict[int, memoryview]:
    """Values by type; of a type that occurs twice the last one, as nla_parse has it."""
    view = memoryview(data)
    return {kind: view[at : at + length] for kind, at, length in attributes(data, start)}


def messages(data: Buffer) -> Iterator[tuple[int, int, int, memoryview]]:
    """Type, flags, sequence number and body of every message in a datagram."""
    view, start, end = memoryview(data), 0, len(data)
    while start + NLMSGHDR.size <= end:
        length, kind, flags, sequence, _ = NLMSGHDR.unpack_from(data, start)
        if length < NLMSGHDR.size or start + length > end:
            return
        yield kind, flags, sequence, view[start + NLMSGHDR.size : start + length]
        start += (length + 3) & ~3
