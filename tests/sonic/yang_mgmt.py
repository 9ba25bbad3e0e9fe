"""Loads ``sonic-srv6mgr.yang`` as SONiC does: by sonic-yang-mgmt, with all of sonic-yang-models.

    git clone --depth 1 https://github.com/sonic-net/sonic-buildimage build/sonic-buildimage
    pip install --target build/sonic-python jinja2 jsonpointer
    lab/lab chroot -- /opt/srv6mgr/bin/python -m tests.sonic.yang_mgmt build

It takes the rows of a whole VPN and of chains, gives them back unchanged, and rejects each wrong
change of them.
"""

from __future__ import annotations

import copy
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Lists are lists here; in Redis the names of their fields end with '@'.
Value = str | list[str]
Tables = Mapping[str, Mapping[str, Mapping[str, Value]]]

MODULE = Path("yang/sonic/sonic-srv6mgr.yang")
SID = "MAIN|fcbb:bbbb:20:f1::/64"
PORTS = ("Ethernet0", "Ethernet24")
RIGHT: Tables = {
    "PORT": {
        name: {"lanes": str(number), "speed": "100000", "alias": name}
        for number, name in enumerate(PORTS)
    },
    "VRF": {"Vrf1": {}},
    "SRV6_MY_LOCATORS": {"MAIN": {"prefix": "fcbb:bbbb:20::"}},
    "SRV6_MY_SIDS": {
        SID: {"action": "uDT46", "decap_vrf": "Vrf1", "decap_dscp_mode": "pipe"},
    },
    "SRV6_MY_SOURCE": {"tunnel-source": {"source-address": "2064:100::1d"}},
    "SRV6MGR_VPN": {
        "Vrf1": {
            "rd": "2:2",
            "rt_import": "1:1 1:2",
            "rt_export": "1:1",
            "export_sid": "fcbb:bbbb:20:f1::",
        }
    },
    "SRV6MGR_SEGMENT_LIST": {"path": {"path": "fcbb:bbbb:1::,fcbb:bbbb:2::"}},
    "SRV6MGR_STEERING": {
        "Vrf1|10.9.0.0/16": {"segment_list": "path", "behavior": "H.Encaps.Red"},
        "default|2001:db8::/32": {"segment_list": "path", "interface": "Ethernet0"},
    },
    "SRV6MGR_PROXY": {
        "MAIN|fcbb:bbbb:20:a1::/64": {
            "behavior": "End.AS",
            "inner_type": "ipv4",
            "interface": "Ethernet24",
            "adj": "10.0.0.1",
            "segment_list": "path",
            "seg_src": "2064:100::1d",
        }
    },
    "SRV6MGR_INTERFACE": {"Ethernet0": {"role": "core"}},
    "SRV6MGR_ACCOUNTING": {"global": {"enabled": "true"}},
    "SRV6MGR_SERVICE_FUNCTION": {
        "firewall": {
            "locator": "MAIN",
            "sid_function": "61440",
            "inner_type": ["ipv4"],
            "interface": "Ethernet24",
            "return_interface": "Ethernet0",
            "ipv4_next_hop": "10.9.0.2",
            "return_ipv4_next_hop": "10.9.1.2",
            "mtu": "1400",
            "health_interval": "50",
        },
        "shaper": {"weight": "2", "drain": "false"},
    },
    "SRV6MGR_FUNCTION_SID": {
        "shaper|fcbb:bbbb:21:f000::": {"inner_type": ["ipv4"], "direction": ["forward"]}
    },
    "SRV6MGR_SERVICE_FUNCTION_GROUP": {"shapers": {"functions": ["shaper"]}},
    "SRV6MGR_SERVICE_FUNCTION_CHAIN": {
        "plain": {"forward_segments": ["fcbb:bbbb:22::", "fcbb:bbbb:21::"]},
        "clean": {"forward_vrf": "Vrf1", "reverse_vrf": "Vrf1", "fallback_chain": "plain"},
    },
    "SRV6MGR_CHAIN_HOP": {
        "clean|10": {"service_function": "firewall", "on_failure": "chain"},
        "clean|20": {"service_function_group": "shapers"},
        "plain|10": {"service_function": "shaper", "on_failure": "drop"},
    },
    "SRV6MGR_CLASSIFIER": {"tenant": {"vrf": "Vrf1"}, "port": {"interfaces": ["Ethernet0"]}},
    "SRV6MGR_CLASSIFIER_RULE": {
        "tenant|10": {
            "source_prefix": "10.1.0.0/24",
            "protocol": "tcp",
            "destination_port": "80-443",
            "service_function_chain": "clean",
            "direction": "reverse",
        },
        "port|20": {"inner_type": "ipv4", "dscp": "46", "service_function_chain": "plain"},
    },
}
VPN, STEERING, PROXY = ("SRV6MGR_VPN", "Vrf1"), "SRV6MGR_STEERING", "SRV6MGR_PROXY"
FIREWALL = (PROXY, "MAIN|fcbb:bbbb:20:a1::/64")
CLEANER, CHAIN = (
    ("SRV6MGR_SERVICE_FUNCTION", "firewall"),
    ("SRV6MGR_SERVICE_FUNCTION_CHAIN", "clean"),
)
HOP, RULE = ("SRV6MGR_CHAIN_HOP", "clean|10"), ("SRV6MGR_CLASSIFIER_RULE", "tenant|10")
# A table and key, and its fields: those that are None go, and without fields the row does.
Wrong = tuple[str, str, Mapping[str, Value | None] | None]
WRONG: Mapping[str, Wrong] = {
    "a VPN without rd": (*VPN, {"rd": None}),
    "a route target without AS number": (*VPN, {"rt_import": "red"}),
    "a VPN of a VRF that is not there": (
        "SRV6MGR_VPN",
        "Vrf2",
        {"rd": "2:2", "rt_import": "1:1", "rt_export": "1:1"},
    ),
    "an exported SID with a length": (*VPN, {"export_sid": "fcbb:bbbb:20:f1::/64"}),
    "a segment with a length": ("SRV6MGR_SEGMENT_LIST", "path", {"path": "fcbb:bbbb:1::/48"}),
    "17 segments": ("SRV6MGR_SEGMENT_LIST", "path", {"path": ",".join(["::1"] * 17)}),
    "a route into no segment list": (STEERING, "Vrf1|10.9.0.0/16", {"segment_list": "none"}),
    "a behavior that SONiC has no name for": (
        STEERING,
        "Vrf1|10.9.0.0/16",
        {"behavior": "H.Insert"},
    ),
    "an interface of a route in a VRF": (STEERING, "Vrf1|10.9.0.0/16", {"interface": "Ethernet0"}),
    "End.AS without segment list": (*FIREWALL, {"segment_list": None}),
    "End.AD with a segment list": (*FIREWALL, {"behavior": "End.AD"}),
    "End.AM of IPv4": (
        *FIREWALL,
        {"behavior": "End.AM", "segment_list": None, "seg_src": None},
    ),
    "a proxy of packets without next hop": (*FIREWALL, {"adj": None}),
    "a proxy on a SID of SRV6_MY_SIDS": (
        PROXY,
        SID,
        {"behavior": "End.AD", "inner_type": "ethernet", "interface": "Ethernet24"},
    ),
    "a role that is none": ("SRV6MGR_INTERFACE", "Ethernet0", {"role": "edge"}),
    "accounting without source": ("SRV6_MY_SOURCE", "tunnel-source", None),
    "accounting by another name": ("SRV6MGR_ACCOUNTING", "Ethernet0", {"enabled": "true"}),
    "a function in a proxy without interface": (*CLEANER, {"interface": None}),
    "a function without next hop": (*CLEANER, {"ipv4_next_hop": None}),
    "SIDs of a function behind a proxy": (
        "SRV6MGR_FUNCTION_SID",
        "firewall|fcbb:bbbb:21:f001::",
        {"inner_type": ["ipv4"], "direction": ["forward"]},
    ),
    "a group of a function that is not there": (
        "SRV6MGR_SERVICE_FUNCTION_GROUP",
        "shapers",
        {"functions": ["shaper", "none"]},
    ),
    "a chain that leads to two places": (*CHAIN, {"forward_segments": ["fcbb:bbbb:22::"]}),
    "a chain that replaces itself": (*CHAIN, {"fallback_chain": "clean"}),
    "a hop that is nothing": (*HOP, {"service_function": None}),
    "a hop that is two things": (*HOP, {"service_function_group": "shapers"}),
    "a fallback chain that is not there": (*CHAIN, {"fallback_chain": None}),
    "a rule without classifier": (
        "SRV6MGR_CLASSIFIER_RULE",
        "none|10",
        {"service_function_chain": "clean"},
    ),
    "ports without protocol": (*RULE, {"protocol": None}),
    "a direction without chain": (*RULE, {"service_function_chain": None}),
    "accounting that is neither on nor off": ("SRV6MGR_ACCOUNTING", "global", {"enabled": "yes"}),
}


@contextmanager
def models(buildimage: Path) -> Iterator[Path]:
    """All models of SONiC, rendered as its build does, and ours beside them."""
    import jinja2

    source = buildimage / "src/sonic-yang-models"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model in (*(source / "yang-models").glob("*.yang"), MODULE):
            shutil.copy(model, folder)
        for template in (source / "yang-templates").glob("*.j2"):
            text = jinja2.Template(template.read_text()).render(yang_model_type="py")
            (folder / template.stem).write_text(text)
        yield folder


def changed(wrong: Wrong) -> dict[str, Any]:
    table, key, fields = wrong
    tables = copy.deepcopy({name: dict(rows) for name, rows in RIGHT.items()})
    if fields is None:
        del tables[table][key]
        if not tables[table]:
            del tables[table]
        return tables
    row = {**tables[table].get(key, {}), **fields}
    tables[table][key] = {name: value for name, value in row.items() if value is not None}
    return tables


def main() -> int:
    build = Path(sys.argv[1])
    sys.path[:0] = [
        str(build / "sonic-python"),
        str(build / "sonic-buildimage/src/sonic-yang-mgmt"),
    ]
    from sonic_yang import SonicYang, SonicYangException

    faults: list[str] = []
    with models(build / "sonic-buildimage") as folder:
        sonic = SonicYang(str(folder), print_log_enabled=False)
        sonic.loadYangModel()
        sonic.loadData(copy.deepcopy(RIGHT))
        sonic.validate_data_tree()
        if sonic.tablesWithOutYang:
            faults.append(f"no model has tables {', '.join(sonic.tablesWithOutYang)}")
        if sonic.getData() != RIGHT:
            faults.append("rows are not given back as they were")
        for name, wrong in WRONG.items():
            try:
                sonic.loadData(changed(wrong))
                sonic.validate_data_tree()
            except SonicYangException:
                continue
            faults.append(f"{name} is accepted")
    rows = sum(map(len, RIGHT.values()))
    rejected = len(WRONG) - sum(fault.endswith("is accepted") for fault in faults)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{rows} rows loaded; {rejected} of {len(WRONG)} wrong changes rejected")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
