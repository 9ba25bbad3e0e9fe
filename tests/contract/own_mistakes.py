"""For each error-app-tag of srv6mgrd itself a configuration that is rejected with it.

Merged below ``srv6`` into ``gnmi.data.SRV6``. What no configuration provokes is named with the
reason; ``tests/unit/checks/test_error_catalogue.py`` finds a tag that is in neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Config = Mapping[str, Any]

_FIRST = "fcbb:0:1:65::/64"
_SPEAKER = {"srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "192.0.2.1"}}
_TARGETS = {"import-rt": ["65000:1"], "export-rt": ["65000:1"]}
_PATH = {"segment-list": [{"name": "PATH", "segment": [{"index": 1, "sid": "fcbb:0:2::1"}]}]}
# Of table 102 (model/leaking_targets.py).
_DISTINGUISHING = "192.0.2.1:32870"
_SOURCE = {"encapsulation": {"source-address": "2001:db8::1"}}
_ACCEPT = {"policy-result": "accept-route"}


def _sids(*entries: Config) -> Config:
    return {"local-sids": {"sid": [{"locator": "main", "behavior": "End", **e} for e in entries]}}


def _sid(prefix: str = _FIRST, **more: Any) -> Config:
    return _sids({"prefix": prefix, **{name.replace("_", "-"): v for name, v in more.items()}})


def _micro(prefix: str, **locator: Any) -> Config:
    """A SID with next-csid of a micro-segment locator of its own."""
    lengths = {name.replace("_", "-"): value for name, value in locator.items()}
    usid = {"name": "usid", "prefix": "fcbb:9:1::/48", "micro-segment": True, **lengths}
    sid = {"prefix": prefix, "locator": "usid", "behavior": "End.X", "next-hop": "2001:db8::2",
           "flavor": ["next-csid"]}  # fmt: skip
    return {"locators": {"locator": [usid]}, **_sids(sid)}


def _locator(name: str, prefix: str, **more: int) -> Config:
    lengths = {leaf.replace("_", "-"): value for leaf, value in more.items()}
    return {"locators": {"locator": [{"name": name, "prefix": prefix, **lengths}]}}


def _vrfs(*entries: Config) -> Config:
    return {"vrfs": {"vrf": list(entries)}}


def _vrf(name: str = "blue", table: int = 101, **more: Any) -> Config:
    return {"name": name, "table-id": table, **more}


def _interfaces(*entries: Config) -> Config:
    return {"interfaces": {"interface": list(entries)}}


def _vlan(name: str, parent: str, number: int = 5, **more: Any) -> Config:
    vlan = {"parent-interface": parent, "vlan-id": number}
    return {"name": name, "srv6mgr-interfaces:vlan": vlan, **more}


def _with_address(name: str, address: str) -> Config:
    ip, _, length = address.partition("/")
    entry = {"address": [{"ip": ip, "prefix-length": int(length)}]}
    family = "ipv6" if ":" in ip else "ipv4"
    return {"name": name, f"srv6mgr-interfaces:{family}": entry}


def _neighbor(**leaves: Any) -> Config:
    """The speaker with one neighbor."""
    given = {name.replace("_", "-"): value for name, value in leaves.items()}
    one = {"address": "2001:db8::2", "remote-as": 65001, **given}
    return {"srv6mgr-bgp:bgp": {**_SPEAKER["srv6mgr-bgp:bgp"], "neighbor": [one]}}


def _function(name: str, **proxy: Any) -> Config:
    """A service function with IPv4 on one interface."""
    leaves = {leaf.replace("_", "-"): value for leaf, value in proxy.items()}
    return {
        "name": name,
        "proxy": {"locator": "main", "sid-function": 4096, "inner-type": ["ipv4"],
                  "interface": name, "ipv4-next-hop": "10.9.0.2", **leaves},
    }  # fmt: skip


def _remote(name: str, number: int = 1) -> Config:
    """A function that another router has."""
    sid = {"address": f"fcbb:0:2:{number:x}::", "inner-type": ["ipv4"], "direction": ["forward"]}
    return {"name": name, "function-sid": [sid]}


def _chain(name: str = "web", hops: Sequence[str] = ("fw",), **more: Any) -> Config:
    return {
        "name": name,
        "hop": [{"index": n, "service-function": one} for n, one in enumerate(hops)],
        "forward": {"vrf": "red"},
        **{leaf.replace("_", "-"): value for leaf, value in more.items()},
    }


def _chaining(
    functions: Sequence[Config] = (),
    chains: Sequence[Config] = (),
    classifiers: Sequence[Config] = (),
    **more: Any,
) -> Config:
    return {
        **_SOURCE,
        "srv6mgr-chain:service-chaining": {
            "service-function": list(functions),
            "service-function-chain": list(chains),
            "classifier": list(classifiers),
            **{leaf.replace("_", "-"): value for leaf, value in more.items()},
        },
    }


def _classifier(*rules: Config, name: str = "tenant", **place: Any) -> Config:
    return {"name": name, "rule": [{"priority": n, **r} for n, r in enumerate(rules)], **place}


def _rule(**leaves: Any) -> Config:
    """One rule for packets of VRF red, and a chain that it can name."""
    rule = {leaf.replace("_", "-"): value for leaf, value in leaves.items()}
    return _chaining([_remote("fw")], [_chain()], [_classifier(rule, vrf="red")])


def _exporting(*entries: tuple[str, int, Config]) -> Config:
    """VRFs of the VPN that make or name the SID that they export."""
    vrfs = [
        _vrf(name, table, **{"srv6mgr-bgp:bgp": {"rd": f"65000:{table}", **_TARGETS, **bgp}})
        for name, table, bgp in entries
    ]
    return {**_vrfs(*vrfs), **_SPEAKER}


def _made(function: int) -> Config:
    return {"locator": "main", "export-function": function}


def _proxies(*entries: Config) -> Config:
    return _sids(
        *(
            {"prefix": f"fcbb:0:1:a{n}::/64", "behavior": "End.AM",
             "srv6mgr-proxy:proxy": {"inner-type": "ipv6", "next-hop": "2001:db8::2", **entry}}
            for n, entry in enumerate(entries)
        )
    )  # fmt: skip


def _dynamic(*entries: Config) -> Config:
    found = _proxies(*entries)
    sids = [{**sid, "behavior": "End.AD"} for sid in found["local-sids"]["sid"]]
    return {"local-sids": {"sid": sids}}


def _leak(vrf: Config, source: str) -> Config:
    return {**vrf, "srv6mgr-routing:route-leaking": {"import-from": [{"vrf": source}]}}


def _leaks(table: int = 101, *, speaker: bool = True, source: str = "green") -> Config:
    """``blue`` takes routes of ``green``, which exports, if there is a speaker."""
    bgp = {"rd": "65000:101", **_TARGETS, **_made(1001)}
    importer = _leak(_vrf("blue", table, **{"srv6mgr-bgp:bgp": bgp} if speaker else {}), source)
    return {**_vrfs(importer), **(_SPEAKER if speaker else {})}


def _target_in_use() -> Config:
    """Routes of ``green`` are distinguished by the target that ``blue`` imports."""
    made = _exporting(("blue", 101, {**_made(201), "import-rt": [_DISTINGUISHING]}),
                      ("green", 102, _made(202)))  # fmt: skip
    blue, green = made["vrfs"]["vrf"]
    return {**made, **_vrfs(_leak(blue, "green"), green)}


def _static(prefix: str, **hop: Any) -> Config:
    leaves = {name.replace("_", "-"): value for name, value in hop.items()}
    route = {"prefix": prefix, "next-hop": [{"index": 1, **leaves}]}
    return _vrfs(_vrf(**{"srv6mgr-routing:static-routes": {"route": [route]}}))


def _steered(prefix: str = "10.0.0.0/8", **more: Any) -> Config:
    leaves = {name.replace("_", "-"): value for name, value in more.items()}
    route = {"prefix": prefix, "segment-list": "PATH", "behavior": "H.Encaps", **leaves}
    return {"segment-lists": _PATH, "srv6mgr-steering:steering": {"route": [route]}}


def _policies(**members: Any) -> Config:
    named = {name.replace("_", "-"): value for name, value in members.items()}
    return {"srv6mgr-routing-policy:routing-policy": named}


_TWICE = {
    "route": [{"prefix": "10.0.0.0/8", "next-hop": [{"index": 1, "special-next-hop": "blackhole"}]}]
}
_STEERED_TOO = {"route": [{"prefix": "10.0.0.0/8", "segment-list": "PATH", "behavior": "H.Encaps"}]}

PROVOKED: Final[Mapping[str, Config]] = {
    "as-path-own-as": _policies(
        policy_definitions={"policy-definition": [{"name": "P", "statement": [
            {"sequence": 1, "actions": {**_ACCEPT, "set-as-path-prepend": {"repeat-n": 2}}}
        ]}]}
    ),
    "bgp-as-reserved": _neighbor(remote_as=0),
    "bgp-keepalive-long": _neighbor(keepalive=90, hold_time=30),
    "bgp-multihop-internal": _neighbor(remote_as=65000, ebgp_multihop=2),
    "bgp-neighbor-address": _neighbor(address="ff02::1"),
    "bgp-reflector-external": _neighbor(route_reflector_client=True),
    "bgp-update-source": _neighbor(update_source="2001:db8::2"),
    "community-range": _exporting(
        ("blue", 101, {**_made(200), "import-rt": ["192.0.2.1:70000"]})
    ),
    "export-function-in-use": _exporting(("blue", 101, _made(200)), ("green", 102, _made(200))),
    "export-function-large": _exporting(("blue", 101, _made(70000))),
    "export-sid-behavior": {
        **_sid(),
        **_exporting(("blue", 101, {"export-sid": _FIRST})),
    },
    "export-sid-label": {
        **_locator("wide", "fcbb:7:1::/48", function_length=20),
        **_exporting(("blue", 101, {"locator": "wide", "export-function": 3})),
    },
    "frr-unsupported": _neighbor(description="a | b"),
    "interface-address-in-use": _interfaces(
        _with_address("eth8", "192.0.2.1/24"), _with_address("eth9", "192.0.2.1/24")
    ),
    "interface-address-locator": _interfaces(_with_address("eth9", "fcbb:0:1:2::1/64")),
    "interface-address-reserved": _interfaces(_with_address("eth9", "127.0.0.1/8")),
    "interface-address-sid": _interfaces(_with_address("lo", "fcbb:0:1:64::1/128")),
    "interface-in-use": _vrfs(_vrf(interface=["eth1"])),
    "interface-is-vrf": _vrfs(_vrf(interface=["red"])),
    "interface-mtu-differs": {
        **_proxies({"interface": "eth9", "mtu": 1500}),
        **_interfaces({"name": "eth9", "srv6mgr-interfaces:mtu": 9000}),
    },
    "interface-mtu-ipv6": _interfaces(
        {"name": "eth9", "srv6mgr-interfaces:mtu": 1000},
        {**_vlan("eth9.5", "eth9"), **_with_address("eth9.5", "2001:db8:5::1/64")},
    ),
    "chain-egress-missing": _chaining([_remote("fw")], [_chain(forward={})]),
    "chain-egress-sid-missing": {
        **_vrfs(_vrf()), **_chaining([_remote("fw")], [_chain(forward={"vrf": "blue"})]),
    },
    "chain-fallback-circle": _chaining(
        [_remote("fw")],
        [_chain("a", fallback_chain="b"), _chain("b", fallback_chain="a")],
    ),
    "chain-function-twice": _chaining([_function("fw")], [_chain(hops=("fw", "fw"))]),
    "chain-inner-type": _chaining(
        [_remote("fw"), _function("bridge", inner_type=["ethernet"])],
        [_chain(hops=("fw", "bridge"))],
    ),
    "chain-paths-many": _chaining(
        [_remote(f"f{n}", n + 1) for n in range(256)],
        [{"name": "web", "hop": [{"index": 1, "service-function-group": "all"}],
          "forward": {"vrf": "red"}}],
        service_function_group=[
            {"name": "all", "service-function": [f"f{n}" for n in range(256)]}
        ],
    ),
    "chain-source-missing": {
        "srv6mgr-chain:service-chaining": _chaining([_remote("fw")], [_chain()])[
            "srv6mgr-chain:service-chaining"
        ],
    },
    "classifier-criteria-many": _chaining(
        [],
        [],
        [
            _classifier(
                *(
                    {
                        "source-prefix": f"::/{n % 23 + 40}",
                        "destination-prefix": f"::/{n // 23 + 40}",
                    }
                    for n in range(23 * 23)
                ),
                vrf="red",
            )
        ],
    ),
    "classifier-direction": _rule(
        inner_type="ipv4", service_function_chain="web", direction="reverse"
    ),
    "classifier-ethernet": _rule(inner_type="ethernet", dscp=46),
    "classifier-function-interface": _chaining(
        [_function("fw")], [], [_classifier(interface=["fw"])]
    ),
    "classifier-inner-type": _rule(service_function_chain="web"),
    "classifier-interface": _chaining([], [], [_classifier(interface=["lo"])]),
    "classifier-interface-in-use": _chaining(
        [], [], [_classifier(vrf="red"), _classifier(name="other", interface=["eth1"])]
    ),
    "classifier-place-missing": _chaining([], [], [_classifier()]),
    "classifier-port-range": _rule(protocol="tcp", destination_port="443-80"),
    "function-place-missing": _chaining([{"name": "fw"}]),
    "function-return-next-hop-missing": _chaining([_function("fw", return_interface="fw-out")]),
    "function-sid-in-use": _chaining(
        [_function("fw"), _function("cache", sid_function=4095, return_interface="cache-out",
                                    return_ipv4_next_hop="10.9.1.2")]
    ),
    "function-sid-large": _chaining([_function("fw", sid_function=65535)]),
    "interface-reserved": _vrfs(_vrf(interface=["lo"])),
    "interface-vlan-in-use": _interfaces(_vlan("eth9.5", "eth9"), _vlan("five", "eth9")),
    "interface-vlan-mtu": _interfaces(
        {"name": "eth9", "srv6mgr-interfaces:mtu": 1500},
        _vlan("eth9.5", "eth9", **{"srv6mgr-interfaces:mtu": 9000}),
    ),
    "interface-vlan-parent": _interfaces(_vlan("eth9.5", "eth9.5")),
    "isis-interface": {
        "srv6mgr-isis:isis": {"area": "49.0001", "system-id": "0000.0000.0001",
                              "locator": "main", "interface": [{"name": "eth1"}]}
    },
    "leak-bgp-missing": {
        **_vrfs(
            _leak(_vrf("blue"), "green"),
            *_exporting(("green", 102, _made(200)))["vrfs"]["vrf"],
        ),
        **_SPEAKER,
    },
    "leak-export-missing": _leaks(source="red"),
    "leak-target-in-use": _target_in_use(),
    "leak-self": _leaks(source="blue"),
    "leak-speaker-missing": _leaks(speaker=False, source="red"),
    "locator-overlap": _locator("west", "fcbb:0:1:8000::/56", node_length=24),
    "locator-prefix-reserved": _locator("west", "ff00:0:1::/48"),
    "measurement-rate": {
        "srv6mgr-path-measurement:path-measurement": {
            "session": [
                {"name": f"s{n}", "destination-address": "2001:db8::2", "interval": 10}
                for n in range(20)
            ]
        }
    },
    "next-hop-family": _static("10.0.0.0/8", address="2001:db8::2"),
    "next-hop-interface": _static("10.0.0.0/8", interface="eth1"),
    "next-hop-interface-missing": _static("fd09::/64", address="fe80::2"),
    "next-hop-missing": _static("10.0.0.0/8"),
    "next-hop-reserved": _sid(behavior="End.X", next_hop="ff02::1"),
    "ospf-interface": _vrfs(
        _vrf(**{"srv6mgr-ospf:ospf": {"router-id": "10.0.0.1", "interface": [{"name": "eth9"}]}})
    ),
    "ospf-router-id": _vrfs(
        _vrf(
            interface=["eth9"],
            **{"srv6mgr-ospf:ospf": {"router-id": "0.0.0.0", "interface": [{"name": "eth9"}]}},
        )
    ),
    "prefix-set-mask-length": _policies(
        defined_sets={"prefix-sets": {"prefix-set": [{"name": "S", "prefix": [
            {"ip-prefix": "10.0.0.0/8", "mask-length-lower": 4}
        ]}]}}
    ),
    "proxy-interface": _proxies({"interface": "eth1"}),
    "proxy-mtu-differs": _proxies(
        {"interface": "eth9", "mtu": 1500}, {"interface": "eth9", "mtu": 9000}
    ),
    "proxy-return-interface-in-use": _dynamic({"interface": "eth9"}, {"interface": "eth9"}),
    "route-distinguisher-duplicate": _exporting(
        ("blue", 101, _made(200)), ("green", 102, {**_made(201), "rd": "65000:101"})
    ),
    "route-prefix-reserved": _steered("ff02::/16"),
    "route-source": _steered(source_address="ff02::1"),
    "segment-address-reserved": {
        "segment-lists": {
            "segment-list": [{"name": "PATH", "segment": [{"index": 1, "sid": "ff02::1"}]}]
        }
    },
    "sid-behavior": _sid(behavior="decapsulate"),
    "sid-function-reserved": _sid("fcbb:0:1::/64"),
    "sid-interface-missing": _sid(behavior="End.X", next_hop="fe80::2"),
    "sid-local-length": _micro("fcbb:9:e001::/64"),
    "sid-local-node": {
        "locators": {"locator": [
            {"name": "usid", "prefix": "fcbb:9:1::/48", "micro-segment": True},
            {"name": "usid-2", "prefix": "fcbb:9:e001::/48", "micro-segment": True},
        ]},
        **_sids({"prefix": "fcbb:9:e001::/48", "locator": "usid", "behavior": "End.X",
                 "next-hop": "2001:db8::2", "flavor": ["next-csid"]}),
    },
    "sid-next-csid-argument": _micro(
        "fcbb:9:1:1::/128", function_length=80
    ),
    "sid-next-csid-length": _micro("fcbb:9:1:1::/128"),
    "sid-next-csid-locator": _sid(
        behavior="End.X", next_hop="2001:db8::2", flavor=["next-csid"]
    ),
    "sid-outside-locator": _sid("fcbb:0:9:1::/64"),
    "sid-overlap": _sids({"prefix": _FIRST}, {"prefix": "fcbb:0:1:65::1/128"}),
    "sid-prefix-short": _sid("fcbb:0:1:300::/56"),
    "sid-proxy-missing": _sid(behavior="End.AM"),
    "static-route-steered": {
        "segment-lists": _PATH,
        **_vrfs(_vrf(**{"srv6mgr-routing:static-routes": _TWICE,
                        "srv6mgr-steering:steering": _STEERED_TOO})),
    },
    "table-in-use": _vrfs(_vrf(table=100)),
    "table-reserved": _vrfs(_vrf(table=8986)),
    "vrf-name-reserved": _vrfs(_vrf("srv6mgr")),
}  # fmt: skip

# Of what happens, or of who asks: no configuration is rejected with these by itself.
UNPROVOKED: Final[Mapping[str, str]] = {
    "alarm-unknown": "an action of an alarm that is gone; tests/contract/datastore/alarms",
    "capability-missing": "of what the kernel or FRR cannot; tests/unit/model/test_needs.py",
    "commit-pending": "another client's confirmed commit; tests/contract/netconf/test_confirmed.py",
    "commit-unknown": "an RPC about a commit; tests/contract/netconf/test_operations.py",
    "fought": "another program changes the object; tests/unit/apply",
    "foreign-object": "an object of the node that is another's; suite rejections",
    "needs-rejected": "of a start, which asks no client; tests/unit/model/test_partition.py",
    "read-back": "of a kernel that keeps something else; suite rejections",
    "revision-unknown": "of a start after a downgrade; tests/contract/datastore",
    "transaction-unknown": "an RPC about a transaction; tests/contract/netconf/test_operations.py",
    "unreachable": "of an FRR that has ended; suite rejections",
}
