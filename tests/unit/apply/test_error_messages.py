"""Rejections as the operator reads them."""

import errno
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest

from srv6mgrd.apply import error_messages
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.diff import Conflict
from srv6mgrd.ports import RejectedAction
from tests.builders import net

SID = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END_DT46, 8986, 10)
RED = VrfDevice("red", 10, 7)
STRICT = Sysctl("net/vrf/strict_mode", "1")
BGP = FrrBlock("bgpd", ("router bgp 65000 vrf red", "address-family ipv4 unicast"), ("rd x",))
HOP = IPv4Address("192.0.2.9")
STEERED = EncapRoute(IPv4Network("10.2.0.0/24"), 10, Headend.H_ENCAPS, (IPv6Address("fcbb:0:2::"),))
SEE = "see the kernel's words, correct the configuration and try again"


@pytest.mark.parametrize(
    ("obj", "number", "said", "text"),
    [
        (
            SID,
            errno.EINVAL,
            "table id error",
            f"SID fcbb:0:1:1::/64: the kernel refused it: table id error (EINVAL); {SEE}",
        ),
        (
            RED,
            errno.EPERM,
            "",
            "VRF red: the kernel refused it: Operation not permitted (EPERM); "
            "run srv6mgrd with CAP_NET_ADMIN",
        ),
        (
            SID,
            errno.EPERM,
            "Strict mode for VRF is disabled",
            "SID fcbb:0:1:1::/64: the kernel refused it: Strict mode for VRF is disabled (EPERM); "
            + SEE,
        ),
        (
            SID,
            errno.EOPNOTSUPP,
            "",
            "SID fcbb:0:1:1::/64: the kernel refused it: Operation not supported (EOPNOTSUPP); "
            "this kernel does not offer it; use a newer kernel",
        ),
        (
            STRICT,
            errno.EBUSY,
            "two VRF devices share a table",
            "sysctl net/vrf/strict_mode: the kernel refused it: "
            "two VRF devices share a table (EBUSY); "
            "two VRF devices share a table; remove or move one ('ip -d link show type vrf')",
        ),
        (
            STRICT,
            errno.ENOENT,
            "",
            "sysctl net/vrf/strict_mode: the kernel refused it: "
            "No such file or directory (ENOENT); load the kernel module vrf",
        ),
        (
            BGP,
            0,
            "bgpd: Malformed rd (at 'rd x')",
            "FRR bgpd 'router bgp 65000 vrf red / address-family ipv4 unicast': "
            "FRR refused it: bgpd: Malformed rd (at 'rd x'); "
            "correct the configuration, or FRR's own where it is in the way",
        ),
        (
            RED,
            errno.EEXIST,
            "a dummy device of this name is there already, which srv6mgr did not make",
            "VRF red: its device can't be made: a dummy device of this name is there already, "
            "which srv6mgr did not make; declare another name, or remove what is there",
        ),
        (RED, 4242, "", f"VRF red: the kernel refused it: Unknown error 4242 (4242); {SEE}"),
    ],
)
def test_a_rejection_names_object_cause_and_remedy(obj, number, said, text):
    assert str(error_messages.of_rejected(RejectedAction(Create(obj), number, said))) == text


@pytest.mark.parametrize(
    ("wanted", "found", "text"),
    [
        (
            RED,
            UnknownLink("red", "bridge up"),
            "VRF red: something that srv6mgr did not make is already there (device red, bridge up);"
            " remove it, or declare another name, table or prefix",
        ),
        (
            RED,
            VrfDevice("red", 20, 9),
            "VRF red: something that srv6mgr did not make is already there (VRF red); "
            "remove it, or declare another name, table or prefix",
        ),
        (
            RED,
            VrfDevice("theirs", 10, 9),
            "VRF red: table 10 is already used by VRF theirs; choose another table-id",
        ),
        (
            STEERED,
            VrfDevice("theirs", 10, 9),
            "route 10.2.0.0/24 in table 10: table 10 belongs to VRF theirs, which srv6mgr did not "
            "make; choose another table-id",
        ),
        (
            SID,
            VrfDevice("theirs", 10, 9),
            "SID fcbb:0:1:1::/64: table 10 belongs to VRF theirs, which srv6mgr did not make; "
            "choose another table-id",
        ),
    ],
)
def test_a_conflict_names_both(wanted, found, text):
    assert str(error_messages.of_conflict(Conflict(wanted, found))) == text


def test_what_is_gone_again_is_somebodys_doing():
    assert str(error_messages.of_unread(Create(SID))) == (
        "SID fcbb:0:1:1::/64: it is gone again right after it was written; "
        "find what removes it (ip monitor)"
    )


@pytest.mark.parametrize("action", [Replace(SID, SID), Delete(SID)])
def test_what_reads_back_otherwise_is_the_kernels_lack(action):
    assert str(error_messages.of_unread(action)) == (
        "SID fcbb:0:1:1::/64: the kernel accepted it but holds something else; "
        "this kernel lacks a part of it; use a newer kernel"
    )
