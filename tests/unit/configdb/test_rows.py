"""What rows of CONFIG_DB declare, and the words for those that declare nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.configdb.fields import RowError, printable
from srv6mgrd.configdb.objects import Content, Declared, Kind, Object, Part
from srv6mgrd.configdb.rows import TABLES, declare, order

SID = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:f1::/64"
LOCATOR = "SRV6_MY_LOCATORS|MAIN"


def leaves(row: str, **fields: str) -> dict[str, object]:
    declared = declare(row, fields)
    assert isinstance(declared, Declared)
    return dict(declared.leaves)


def test_a_locator_with_defaults() -> None:
    declared = declare(LOCATOR, {"prefix": "fcbb:bbbb:20::"})
    assert isinstance(declared, Declared)
    assert declared.object == Object(Kind.LOCATOR, "MAIN")
    assert declared.leaves == {
        "prefix": "fcbb:bbbb:20::/48",
        "block-length": 32,
        "node-length": 16,
        "function-length": 16,
        "argument-length": 0,
        "micro-segment": True,
    }


def test_a_vrf_declares_its_name() -> None:
    declared = declare("VRF|Vrf1", {"NULL": "NULL"})
    assert isinstance(declared, Declared)
    assert (declared.object, declared.leaves) == (Object(Kind.VRF, "Vrf1"), {})
    assert declare("VRF|default", {"NULL": "NULL"}) is None


def test_actions() -> None:
    main = {"locator": "MAIN"}
    assert leaves(SID, action="uDT46", decap_vrf="Vrf1", decap_dscp_mode="pipe") == main | {
        "behavior": "End.DT46",
        "vrf": "Vrf1",
    }
    assert leaves("SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48", action="uN") == main | {
        "behavior": "End",
        "flavor": ["next-csid"],
    }
    assert leaves(SID, action="uA", adj="FE80::1", interface="Ethernet0") == main | {
        "behavior": "End.X",
        "flavor": ["next-csid"],
        "next-hop": "fe80::1",
        "interface": "Ethernet0",
    }
    assert leaves(SID, action="uDT6") == main | {"behavior": "End.DT6"}
    into_default = main | {"behavior": "End.DT46", "default-vrf": True}
    assert leaves(SID, action="uDT46") == into_default
    assert leaves(SID, action="uDT46", decap_vrf="default") == into_default


def test_the_key_of_a_sid_is_canonical() -> None:
    declared = declare("SRV6_MY_SIDS|MAIN|FCBB:BBBB:20:F1:0:0::1/64", {"action": "uN"})
    assert isinstance(declared, Declared)
    assert declared.object.name == "fcbb:bbbb:20:f1::/64"


@pytest.mark.parametrize(
    ("row", "content", "words"),
    [
        (SID, {"action": "end"}, "action 'end' is unknown; write one of uN, uA"),
        (SID, {}, "action is missing; add action"),
        ("SRV6_MY_SOURCE|x", {}, "source-address is missing"),
        ("BGP_GLOBALS|default", {"local_asn": "0", "router_id": "1.1.1.1"}, "out of range"),
        ("BGP_GLOBALS|default", {"local_asn": "1", "router_id": "x"}, "is no IPv4 address"),
        ("BGP_GLOBALS_AF|Vrf1|ipv4_unicast", {"rd_vpn_export": "1:1"}, "add rt_vpn_both"),
        ("BGP_NEIGHBOR|default|x", {"asn": "1"}, "neighbor 'x' is no IP address"),
        ("SRV6MGR_SEGMENT_LIST|a", {"path": "::1,x"}, "segment 'x' is no IPv6 address"),
        ("SRV6MGR_SEGMENT_LIST|a", {"path": ",".join(["::1"] * 17)}, "17 segments"),
        ("SRV6MGR_STEERING|default|x", {"segment_list": "a"}, "prefix 'x' is no prefix"),
        (
            "SRV6MGR_STEERING|Vrf1|::/0",
            {"segment_list": "a", "interface": "e"},
            "interface means nothing to a route of a VRF; remove interface",
        ),
        (
            "SRV6MGR_VPN|Vrf1",
            {"rd": "\udcff", "rt_import": "1:1", "rt_export": "1:1"},
            "write it like 65000:100",
        ),
        (
            "BGP_GLOBALS_AF|Vrf1|ipv4_unicast",
            {"rd_vpn_export": "1:1", "rt_vpn_both": "1:1 x"},
            "rt_vpn_both 'x' is not AS:number",
        ),
        ("INTERFACE|e\udcff", {"vrf_name": "Vrf1"}, "no name of an interface"),
        ("SRV6MGR_ACCOUNTING|eth0", {"enabled": "true"}, "write SRV6MGR_ACCOUNTING|global"),
        ("SRV6MGR_ACCOUNTING|global", {"enabled": "1"}, "write one of false, true"),
        ("SRV6MGR_ACCOUNTING|global", {}, "enabled is missing"),
        ("SRV6MGR_INTERFACE|eth0", {"role": "x"}, "write one of core, customer"),
        (
            "SRV6MGR_PROXY|MAIN|fcbb::/64",
            {"behavior": "End.AS", "interface": "eth0", "inner_type": "x"},
            "inner_type 'x' is unknown; write one of ipv4",
        ),
        (SID, {"action": "uA", "adj": "fe80::1"}, "interface is missing; add interface"),
        (SID, {"action": "uA", "adj": "fe80::1", "interface": "a b"}, "no name of an interface"),
        (SID, {"action": "uA", "adj": "x"}, "adj 'x' is no IPv6 address"),
        (SID, {"action": "uA", "adj": "fe80::1%eth0"}, "is no IPv6 address"),
        (SID, {"action": "uN", "adj": "::1"}, "adj means nothing to uN; remove adj"),
        (SID, {"action": "uN", "decap_vrf": "Vrf1"}, "means nothing to uN"),
        (SID, {"action": "uN", "decap_dscp_mode": "none"}, "write uniform or pipe"),
        (SID, {"action": "uDT46", "decap_vrf": "a\nb"}, r"decap_vrf 'a\nb' holds other characters"),
        ("VRF|a\nb", {"NULL": "NULL"}, r"VRF 'a\nb' holds other characters"),
        ("VRF|lo", {"NULL": "NULL"}, "VRF lo is a name that the kernel uses itself"),
        ("VRF|Vrf4567890123456", {"NULL": "NULL"}, "is longer than 15; shorten it"),
        ("SRV6_MY_LOCATORS|a b", {"prefix": "fcbb::"}, "locator 'a b' holds other characters"),
        (LOCATOR, {"prefix": "fcbb::", "node_len": "12"}, "whole bytes"),
        (LOCATOR, {"prefix": "fcbb::", "node_len": "0"}, "1 at least"),
        (LOCATOR, {"prefix": "fcbb::", "func_len": "127"}, "sum to 175 bits"),
        (SID, "string", "it is a string, not a hash; remove it and write it with HSET"),
        ("SRV6_MY_SIDS|MAIN", {"action": "uN"}, "the key is not SRV6_MY_SIDS|<locator>|<prefix>"),
        ("SRV6_MY_SIDS||::1/64", {"action": "uN"}, "the key is not"),
        ("SRV6_MY_SIDS|MAIN|fcbb::", {"action": "uN"}, "SID 'fcbb::' is no IPv6 prefix"),
        ("SRV6_MY_SIDS|MAIN|10.0.0.0/8", {"action": "uN"}, "is no IPv6 prefix"),
        (LOCATOR, {}, "prefix is missing; add prefix"),
        (LOCATOR, {"prefix": "fcbb::/40"}, "without a length; correct it"),
        (LOCATOR, {"prefix": "fcbb::", "func_len": "-1"}, "func_len '-1' is no number of bits"),
        (LOCATOR, {"prefix": "fcbb::", "block_len": "128"}, "sum to 160 bits"),
        (LOCATOR, {"prefix": "fcbb::", "vrf": "Vrf1"}, "vrf Vrf1 can't be"),
        ("VRF|", {"NULL": "NULL"}, "the key is not VRF|<vrf>"),
        ("VRF|Vrf1", {"fallback": "true"}, "fallback true is not offered"),
        ("VRF|Vrf1", {"vni": "100"}, "vni 100 is not offered"),
    ],
)
def test_rejections_name_cause_and_remedy(row: str, content: Content, words: str) -> None:
    with pytest.raises(RowError) as error:
        declare(row, content)
    assert str(error.value).startswith(f"{printable(row)}: ")
    assert words in str(error.value)


def test_neighbors_of_bgpcfgd_are_passed_over() -> None:
    """They have no VRF in their key."""
    assert declare("BGP_NEIGHBOR|10.0.0.57", {"asn": "65200", "name": "ARISTA01T1"}) is None


@pytest.mark.parametrize("name", ["\udcff", "a  b", "a\nb", "x" * 81])
def test_a_name_that_is_no_description_is_warned_of(name: str) -> None:
    """Bytes of Redis that are no UTF-8 arrive as surrogates, which JSON can't carry."""
    declared = declare("BGP_NEIGHBOR|Vrf1|10.0.0.1", {"asn": "1", "name": name})
    assert isinstance(declared, Part)
    assert declared.content == {"neighbors": {"10.0.0.1": {"remote-as": 1}}}
    assert "has no effect" in declared.warnings[0]
    fine = declare("BGP_NEIGHBOR|Vrf1|10.0.0.1", {"asn": "1", "name": "ARISTA01T1 (spine)"})
    assert isinstance(fine, Part)
    assert not fine.warnings


def test_rows_stand_behind_what_they_refer_to() -> None:
    rows = [SID, "VRF|Vrf1", LOCATOR]
    assert sorted(rows, key=order) == [LOCATOR, "VRF|Vrf1", SID]


def test_the_user_that_is_shipped_may_read_all_tables() -> None:
    (user,) = [
        line.split()
        for line in Path("redis-schema/srv6mgr.acl").read_text().splitlines()
        if line.startswith("user srv6-configdbd ")
    ]
    wanted = {f"%R~{t.prefix}*" for t in TABLES} | {f"&__keyspace@4__:{t.prefix}*" for t in TABLES}
    assert wanted <= set(user)


@given(
    st.sampled_from(TABLES),
    st.text(max_size=30),
    st.text(max_size=9) | st.dictionaries(st.text(max_size=9), st.text(max_size=9)),
)
def test_whatever_stands_there_is_declared_or_rejected(
    table: object, rest: str, content: Content
) -> None:
    with contextlib.suppress(RowError):
        declare(f"{table.prefix}{rest}", content)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"decap_dscp_mode": "uniform"}, "decap_dscp_mode uniform has no effect in the kernel"),
        ({"colour": "red", "a\nb": ""}, r"field a\nb, colour is unknown and has no effect"),
        ({"decap_dscp_mode": "pipe"}, None),
    ],
)
def test_fields_without_effect_are_warned_of(fields: dict[str, str], warning: str | None) -> None:
    declared = declare(SID, {"action": "uN", **fields})
    assert declared is not None
    found = " ".join(declared.warnings)
    assert (warning in found) if warning else not found


@pytest.mark.parametrize(
    ("row", "content"),
    [
        (SID, {"action": "x" * 1_000_000}),
        (SID, {"action": "uN", "adj": "x" * 1_000_000}),
        (SID, {"action": "uA", "interface": "e", "adj": "x" * 1_000_000}),
        (SID, {"action": "uDT46", "decap_vrf": "x" * 1_000_000}),
        (SID, {"action": "uN", "decap_dscp_mode": "\n" * 1_000_000}),
        (f"VRF|{'x' * 1_000_000}", {}),
        (f"VRF|{'x' * 1_000_000}", "string"),
        (f"SRV6_MY_SIDS|{'x' * 1_000_000}", {}),
        (LOCATOR, {"prefix": "x" * 1_000_000}),
        (LOCATOR, {"prefix": "fcbb::", "func_len": "x" * 1_000_000}),
        (LOCATOR, {"prefix": "fcbb::", "vrf": "x" * 1_000_000}),
    ],
)
def test_a_reason_does_not_repeat_a_long_text(row: str, content: Content) -> None:
    with pytest.raises(RowError) as error:
        declare(row, content)
    assert len(str(error.value)) < 500
