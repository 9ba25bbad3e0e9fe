"""What SONiC's own tests configure, restated: rows are judged as SONiC judges them.

From sonic-buildimage src/sonic-yang-models/tests (srv6.json) and src/sonic-bgpcfgd/tests
(test_srv6.py), and sonic-mgmt tests/srv6. docs/sonic.md has the table of differences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.objects import Kind, Object
from srv6mgrd.configdb.ownership import OwnershipIndex
from srv6mgrd.configdb.running import Running
from srv6mgrd.configdb.surroundings import Surroundings
from srv6mgrd.configdb.verdict import Status
from srv6mgrd.configdb.writer import split
from srv6mgrd.model.checks import check
from srv6mgrd.model.parse import parse

Rows = Mapping[str, Mapping[str, str]]

MAIN: Rows = {"SRV6_MY_LOCATORS|MAIN": {"prefix": "FCBB:BBBB:20::"}}
LOC1: Rows = {"SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:1::"}}
VRF1: Rows = {"VRF|Vrf1": {"NULL": "NULL"}}
UN, UA, UDT46 = {"action": "uN"}, {"action": "uA"}, {"action": "uDT46"}


def rejected(rows: Rows) -> set[str]:
    """The rows that are rejected: on their own, or by the checks of srv6mgrd."""
    objects: dict[Object, dict[str, Any]] = {}
    ownership = OwnershipIndex()
    for row, fields in rows.items():
        ownership.write(row, fields)
    running = Running({})
    neighbors = {name: [("fe80::1", "02:00:00:00:00:01")] for name in ("Ethernet0", "Ethernet4")}
    judged = ownership.judge(running, around=Surroundings(neighbors))

    def commit(changes: Sequence[Change]) -> None:
        made = objects | {c.object: {**(c.leaves or {})} for c in changes}
        srv6: dict[str, Any] = {}
        for obj, leaves in made.items():
            container, name, key = obj.kind.path
            if obj.kind.is_container:
                srv6[container] = leaves
                continue
            entry = {key: obj.name, **leaves}
            srv6.setdefault(container, {}).setdefault(name, []).append(entry)
        check(parse({"srv6mgr-srv6:srv6": srv6}))
        objects.update(made)

    found = {r for r, v in judged.verdicts.items() if v.status is not Status.ACCEPTED}
    return found | split(judged.changes, commit).keys()


UA_OF_BLOCK = "SRV6_MY_SIDS|MAIN|FCBB:BBBB:FE00::/48"
TO_ETHERNET0 = {**UA, "interface": "Ethernet0"}
# By the names of its tests. A row that is rejected ends in "!".
YANG_MODELS: Mapping[str, Rows] = {
    "SRV6_VALID": {
        **MAIN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48": UN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20:F1::/64": UDT46,
    },
    "SRV6_MY_LOCATOR_INVALID_FUNC_LEN": {
        "SRV6_MY_LOCATORS|MAIN!": {"prefix": "FCBB:BBBB:20::", "func_len": "127"}
    },
    "SRV6_MY_LOCATOR_INVALID_VRF": {
        "SRV6_MY_LOCATORS|MAIN!": {"prefix": "FCBB:BBBB:20::", "vrf": "Vrf1"}
    },
    "SRV6_MY_SID_INVALID_LOCATOR": {**MAIN, "SRV6_MY_SIDS|None|FCBB:BBBB:20::/48!": UN},
    "SRV6_MY_SID_INVALID_IP_PREFIX": {**MAIN, "SRV6_MY_SIDS|MAIN|FCBB:BBBB:21::!": UN},
    "SRV6_MY_SID_INVALID_ACTION": {**MAIN, f"{UA_OF_BLOCK}!": UA},
    "SRV6_MY_SID_UA_VALID": {**MAIN, UA_OF_BLOCK: {**TO_ETHERNET0, "adj": "fe80::1"}},
    "SRV6_MY_SID_UA_MISSING_INTERFACE": {**MAIN, f"{UA_OF_BLOCK}!": {**UA, "adj": "fe80::1"}},
    "SRV6_MY_SID_UA_MISSING_ADJ": {**MAIN, UA_OF_BLOCK: TO_ETHERNET0},
    "SRV6_MY_SID_UA_MISSING_BOTH": {**MAIN, f"{UA_OF_BLOCK}!": UA},
    "SRV6_MY_SID_ADJ_INVALID_ACTION": {
        **MAIN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48!": {**UN, "adj": "fe80::1"},
    },
}
IN_VRF1 = {**UDT46, "decap_vrf": "Vrf1"}
BGPCFGD: Mapping[str, Rows] = {
    "test_locator_add, _del": LOC1,
    "test_uN_add, _del": {**LOC1, "SRV6_MY_SIDS|loc1|FCBB:BBBB:1::/48": UN},
    "test_uA_add_del": {
        **LOC1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:FE01::/64": {**TO_ETHERNET0, "adj": "2001:db8::1"},
    },
    "test_uA_add_del: in the block": {
        **LOC1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:FE01::/48": {**TO_ETHERNET0, "adj": "2001:db8::1"},
    },
    "test_uA_add_del: no interface": {
        **LOC1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:FE01::/64!": {**UA, "adj": "2001:db8::1"},
    },
    "test_uA_add_del: no adj": {
        **LOC1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:FE01::/64": TO_ETHERNET0,
    },
    "test_uDT46_add_vrf1": {**LOC1, **VRF1, "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:F2::/64": IN_VRF1},
    "test_uDT46_del_vrf1": {
        **LOC1,
        **VRF1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1::/48": UN,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:F2::/64": IN_VRF1,
    },
    "test_invalid_add": {"SRV6_MY_SIDS|loc2|FCBB:BBBB:21:F1::/64!": UN},
    "test_add_unmatched_sid": {
        "SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:20::"},
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:21::/48!": UN,
    },
    "test_out_of_order_add": {
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:20::/48!": UN,
        "SRV6_MY_SIDS|loc2|FCBB:BBBB:21::/48": UN,
        "SRV6_MY_LOCATORS|loc2": {"prefix": "fcbb:bbbb:21::"},
    },
    "test_out_of_order_add_wait_for_all_deps": {
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:20::/48": UN,
        "SRV6_MY_SIDS|loc2|FCBB:BBBB:21::/48": UN,
        "SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:20::"},
        "SRV6_MY_LOCATORS|loc2": {"prefix": "fcbb:bbbb:21::"},
    },
}
PIPE, UNIFORM = {"decap_dscp_mode": "pipe"}, {"decap_dscp_mode": "uniform"}
UN_OF_LOC1 = "SRV6_MY_SIDS|loc1|fcbb:bbbb:1::/48"
WITHOUT_FUNCTION: Rows = {"SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:1::", "func_len": "0"}}


def _provider_edge(number: int, vrf1: str, vrf2: str) -> Rows:
    """A node of ansible/vars/configdb_jsons/7nodes_*, as far as it is of VPNs."""
    block = f"fd00:20{number}:20{number}"
    asn, loopback = str(64599 + number), 28 + number
    families = {"rd_vpn_export": "2:2", "rt_vpn_both": "1:1", "export_vpn": "true"}
    others = [n for n in (1, 2, 3) if n != number]
    rows: dict[str, Mapping[str, str]] = {
        "SRV6_MY_SOURCE|tunnel-source": {"source-address": f"2064:{number}00::{loopback:x}"},
        "SRV6_MY_LOCATORS|lsid1": {
            "argu_len": "48",
            "block_len": "32",
            "func_len": "16",
            "node_len": "16",
            "prefix": f"{block}::/48",
        },
        f"SRV6_MY_SIDS|lsid1|{block}:{vrf1}::/64": IN_VRF1,
        f"SRV6_MY_SIDS|lsid1|{block}:{vrf2}::/64": {**UDT46, "decap_vrf": "Vrf2"},
        "VRF|Vrf1": {"NULL": "NULL"},
        "VRF|Vrf2": {"NULL": "NULL"},
        "INTERFACE|Ethernet0": {"NULL": "NULL"},
        "INTERFACE|Ethernet24": {"vrf_name": "Vrf1"},
        "INTERFACE|Ethernet24|10.10.246.29/24 ": {"family": "IPv4", "scope": "global"},
        "BGP_GLOBALS|default": {
            "local_asn": asn,
            "router_id": f"100.1.0.{loopback}",
            "srv6_locator": "lsid1",
            "load_balance_mp_relax": "true",
        },
        "BGP_GLOBALS|Vrf1": {
            "local_asn": asn,
            "router_id": f"100.1.0.{loopback} ",
            "sid_vpn_per_vrf_export_explicit": f"{block}:{vrf1}::",
        },
        "BGP_GLOBALS_AF|default|ipv4_vpn": {"max_ebgp_paths": "64"},
        "BGP_GLOBALS_AF|Vrf1|ipv4_unicast": {
            **families,
            "max_ebgp_paths": "64",
            "rmap_vpn_export": "s1",
            "import_vpn": "true",
        },
        "BGP_NEIGHBOR|Vrf1|10.10.246.254": {
            "admin_status": "true",
            "local_asn": asn,
            "local_addr": f"10.10.246.{loopback}",
            "asn": asn,
            "name": "exabgp_v4",
        },
        "BGP_NEIGHBOR_AF|Vrf1|10.10.246.254|ipv4_unicast": {"admin_status": "true"},
        "BGP_NEIGHBOR|default|FC00::71": {"admin_status": "true", "asn": "65100", "name": "P1"},
        "BGP_NEIGHBOR_AF|default|FC00::71|ipv6_unicast": {"admin_status": "true"},
    }
    for other in others:
        peer = f"2064:{other}00::{28 + other:x}"
        rows[f"BGP_NEIGHBOR|default|{peer}"] = {
            "admin_status": "up",
            "ebgp_multihop": "true",
            "ebgp_multihop_ttl": "255",
            "local_addr": f"2064:{number}00::{28 + number:x}",
            "asn": str(64599 + other),
            "name": f"PE{other}",
        }
        rows[f"BGP_NEIGHBOR_AF|default|{peer}|ipv4_vpn"] = {"admin_status": "true"}
    return rows


# Nodes of packet_trimming: <n>000 and <n>001 with one more hundred each.
_TRIMMED = [f"{n // 2 + 1}00{n % 2}:{n + 1:x}00" for n in range(10)]
MGMT: Mapping[str, Rows] = {
    "test_srv6_static_config: test_uN_config": {**WITHOUT_FUNCTION, UN_OF_LOC1: {**UN, **PIPE}},
    "test_srv6_static_config: test_uDT46_config": {
        **LOC1,
        **VRF1,
        "SRV6_MY_SIDS|loc1|fcbb:bbbb:1:2::/64": {**IN_VRF1, **UNIFORM},
    },
    "test_srv6_dataplane, _vlan_forwarding, telemetry": {
        **WITHOUT_FUNCTION,
        UN_OF_LOC1: {**UN, **PIPE},
    },
    "test_srv6_qos: pipe": {**WITHOUT_FUNCTION, UN_OF_LOC1: {**UN, **PIPE}},
    "test_srv6_qos: unset": {**WITHOUT_FUNCTION, UN_OF_LOC1: UN},
    "packet_trimming: 10 locators and uN": {
        key: fields
        for n, node in enumerate(_TRIMMED, 1)
        for key, fields in (
            (
                f"SRV6_MY_LOCATORS|locator_{n}",
                {
                    "prefix": f"2001:{node}::",
                    "block_len": "32",
                    "node_len": "16",
                    "func_len": "0",
                    "arg_len": "0",
                },
            ),
            (
                f"SRV6_MY_SIDS|locator_{n}|2001:{node}::/48",
                {**UN, "decap_vrf": "default", **PIPE},
            ),
        )
    },
    "wred": {**WITHOUT_FUNCTION, UN_OF_LOC1: {**UN, **PIPE}},
    "generic_config_updater: uniform": {**LOC1, UN_OF_LOC1: {**UN, **UNIFORM}},
    "conftest: 128 locators and uN": {
        key: fields
        for n in range(1, 129)
        for key, fields in (
            (f"SRV6_MY_LOCATORS|locator_{n}", {"prefix": f"2001:1001:{n:x}::", "func_len": "0"}),
            (
                f"SRV6_MY_SIDS|locator_{n}|2001:1001:{n:x}::/48",
                {**UN, "decap_vrf": "default", **PIPE},
            ),
        )
    },
    "seven nodes: PE1": _provider_edge(1, "1", "11"),
    "seven nodes: PE2": _provider_edge(2, "2", "22"),
    "seven nodes: PE3": _provider_edge(3, "3", "33"),
}
_SOURCES: Mapping[str, Mapping[str, Rows]] = {"yang": YANG_MODELS, "bgpcfgd": BGPCFGD, "mgmt": MGMT}


_VECTORS = [
    pytest.param(rows, id=f"{source}: {name}")
    for source, vectors in _SOURCES.items()
    for name, rows in vectors.items()
]


@pytest.mark.parametrize("rows", _VECTORS)
def test_rows_are_judged_as_sonic_judges_them(rows: Rows) -> None:
    """A row that is rejected ends in "!"."""
    written = {row.removesuffix("!"): fields for row, fields in rows.items()}
    expected = {row.removesuffix("!") for row in rows if row.endswith("!")}
    assert rejected(written) == expected


def test_seven_nodes_make_a_whole_vpn() -> None:
    """What PE1 declares: the VPN of its fixture, by the names of the model."""
    ownership = OwnershipIndex()
    for row, fields in _provider_edge(1, "1", "11").items():
        ownership.write(row, fields)
    made = {c.object: dict(c.leaves or {}) for c in ownership.judge(Running({})).changes}
    assert made[Object(Kind.ENCAPSULATION)] == {"source-address": "2064:100::1d"}
    assert made[Object(Kind.VRF, "Vrf2")] == {"table-id": 1002}
    assert made[Object(Kind.VRF, "Vrf1")] == {
        "table-id": 1001,
        "interface": ["Ethernet24"],
        "srv6mgr-bgp:bgp": {
            "rd": "2:2",
            "import-rt": ["1:1"],
            "export-rt": ["1:1"],
            "export-sid": "fd00:201:201:1::/64",
            "maximum-paths": {"ebgp": 64},
            "neighbor": [
                {
                    "address": "10.10.246.254",
                    "remote-as": 64600,
                    "description": "exabgp_v4",
                    "update-source": "10.10.246.29",
                }
            ],
        },
    }
    speaker = made[Object(Kind.BGP)]
    assert (speaker["as-number"], speaker["router-id"]) == (64600, "100.1.0.29")
    # Not that of the underlay.
    assert [n["address"] for n in speaker["neighbor"]] == ["2064:200::1e", "2064:300::1f"]


def test_the_documentation_counts_these_vectors() -> None:
    text = Path("docs/sonic.md").read_text()
    table = re.findall(
        r"^\| sonic-(yang-models|bgpcfgd|mgmt) .*?\| (\d+) \w+ \|", text, re.MULTILINE
    )
    counted = {
        "yang-models": len(YANG_MODELS),
        # "test_uN_add, _del" are two tests, what comes behind a colon is part of one.
        "bgpcfgd": sum(n.count(",") + 1 for n in {n.partition(":")[0] for n in BGPCFGD}),
        "mgmt": len(MGMT),
    }
    assert {source: int(number) for source, number in table} == counted
