"""What SONiC's own tests configure, restated: rows are judged as SONiC judges them.

From sonic-buildimage src/sonic-yang-models/tests (srv6.json) and src/sonic-bgpcfgd/tests
(test_srv6.py), and sonic-mgmt tests/srv6. docs/sonic.md has the table of differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.ownership import OwnershipIndex, Status
from srv6mgrd.configdb.rows import Object
from srv6mgrd.configdb.running import Running
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
    judged = ownership.judge(running)

    def commit(changes: Sequence[Change]) -> None:
        made = objects | {c.object: {**(c.leaves or {})} for c in changes}
        srv6: dict[str, Any] = {}
        for obj, leaves in made.items():
            container, name, key = obj.kind.path
            entry = {key: obj.name, **leaves}
            srv6.setdefault(container, {}).setdefault(name, []).append(entry)
        check(parse({"srv6mgr-srv6:srv6": srv6}))
        objects.update(made)

    found = {r for r, v in judged.verdicts.items() if v.status is Status.REJECTED}
    return found | split(judged.changes, commit).keys()


YANG_MODELS = {
    "invalid func_len": {"SRV6_MY_LOCATORS|MAIN!": {"prefix": "FCBB:BBBB:20::", "func_len": "127"}},
    "invalid VRF": {"SRV6_MY_LOCATORS|MAIN!": {"prefix": "FCBB:BBBB:20::", "vrf": "Vrf1"}},
    "invalid locator": {**MAIN, "SRV6_MY_SIDS|None|FCBB:BBBB:20::/48!": UN},
    "invalid prefix": {**MAIN, "SRV6_MY_SIDS|MAIN|FCBB:BBBB:21::!": UN},
    "prefix of another locator": {**MAIN, "SRV6_MY_SIDS|MAIN|FCBB:BBBB:21::/48!": UN},
    "uA without interface": {**MAIN, "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48!": UA},
    "uN": {**MAIN, "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48": UN},
    "uA of the local block": {
        **MAIN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:FE28::/48": {
            **UA,
            "interface": "Ethernet4",
            "adj": "2001:db8::1",
        },
    },
}
BGPCFGD = {
    "uN": {**LOC1, "SRV6_MY_SIDS|loc1|FCBB:BBBB:1::/48": UN},
    "uDT46 into Vrf1": {
        **LOC1,
        **VRF1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:F2::/64": {**UDT46, "decap_vrf": "Vrf1"},
    },
    "both": {
        **LOC1,
        **VRF1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1::/48": UN,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:F2::/64": {**UDT46, "decap_vrf": "Vrf1"},
    },
    "no locator": {"SRV6_MY_SIDS|loc2|FCBB:BBBB:21:F1::/64!": UN},
    "locator of another prefix": {
        "SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:20::"},
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:21::/48!": UN,
    },
    "SIDs before locators": {
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:20::/48!": UN,
        "SRV6_MY_SIDS|loc2|FCBB:BBBB:21::/48": UN,
        "SRV6_MY_LOCATORS|loc2": {"prefix": "fcbb:bbbb:21::"},
    },
}
PIPE, UNIFORM = {"decap_dscp_mode": "pipe"}, {"decap_dscp_mode": "uniform"}
MGMT = {
    "static uN": {**LOC1, "SRV6_MY_SIDS|loc1|fcbb:bbbb:1::/48": {**UN, **PIPE}},
    "static uDT46": {
        **LOC1,
        **VRF1,
        "SRV6_MY_SIDS|loc1|fcbb:bbbb:1:2::/64": {**UDT46, "decap_vrf": "Vrf1", **UNIFORM},
    },
    "256 uN without function": {
        key: fields
        for n in range(1, 257)
        for key, fields in (
            (f"SRV6_MY_LOCATORS|loc{n}", {"prefix": f"fcbb:bbbb:{n:x}::", "func_len": "0"}),
            (f"SRV6_MY_SIDS|loc{n}|fcbb:bbbb:{n:x}::/48", {**UN, **PIPE}),
        )
    },
    "uniform": {
        "SRV6_MY_LOCATORS|loc1": {"prefix": "fcbb:bbbb:1::", "func_len": "0"},
        "SRV6_MY_SIDS|loc1|fcbb:bbbb:1::/48": {**UN, **UNIFORM},
        "SRV6_MY_SIDS|loc1|fcbb:bbbb:fe28::/48": {
            **UA,
            "interface": "Ethernet4",
            "adj": "2001:db8::1",
        },
    },
}


# Which SONiC accepts.
DIFFERENCES = {
    "uDT46 into the default VRF": {
        **MAIN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20::/48": UN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:20:F1::/64!": UDT46,
    },
    "the same, by its name": {
        **LOC1,
        "SRV6_MY_SIDS|loc1|FCBB:BBBB:1:FE00::/64!": {**UDT46, "decap_vrf": "default"},
    },
    "uA without adj": {
        **MAIN,
        "SRV6_MY_SIDS|MAIN|FCBB:BBBB:FE28::/48!": {**UA, "interface": "Ethernet4"},
    },
}
_SOURCES = {"yang": YANG_MODELS, "bgpcfgd": BGPCFGD, "mgmt": MGMT, "differences": DIFFERENCES}


@pytest.mark.parametrize("vectors", _SOURCES.values(), ids=_SOURCES)
def test_rows_are_judged_as_sonic_judges_them(vectors: Mapping[str, Rows]) -> None:
    """A row that is rejected ends in "!"."""
    for name, rows in vectors.items():
        written = {row.removesuffix("!"): fields for row, fields in rows.items()}
        expected = {row.removesuffix("!") for row in rows if row.endswith("!")}
        assert rejected(written) == expected, name
