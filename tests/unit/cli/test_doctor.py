"""What doctor finds, and what it says to do."""

import socket
import threading
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network, ip_interface

import pytest

from lab.enclosure import CHECKOUT
from srv6mgrd.cli import host
from srv6mgrd.cli.doctor import network
from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.doctor.kernel import kernel
from srv6mgrd.cli.doctor.networkd import networkd
from srv6mgrd.cli.doctor.services import redis
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import Boundary
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.model.desired import Role
from srv6mgrd.model.parse import parse
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.plan.target import target, vrf_ifindex
from tests.unit.cli.conftest import SID, TREE

LIST = (CHECKOUT / "yang/install.txt").read_text().splitlines()
MODULES = frozenset(line.partition(".")[0] for line in LIST if line.startswith("srv6mgr-"))
DESIRED = parse(TREE)
# Monitoring plug-ins end so.
DEGRADED, DOWN, UNKNOWN = 1, 2, 3
ANY = IPv6Network("::/0")
LINKS = {
    link.name: link
    for link in (
        host.Link("eth1", 2, "", up=True, carrier=True, mtu=1500, master="red"),
        host.Link("srv6mgr", 3, "dummy", up=True, carrier=True, mtu=1500, alias="srv6mgr"),
        host.Link(
            "red",
            vrf_ifindex(10),
            "vrf",
            up=True,
            carrier=True,
            mtu=1500,
            alias="srv6mgr",
            table=10,
        ),
    )
}
ROUTE = host.Route(IPv6Network(SID), 8986, 1024, 86, "unicast", "srv6mgr", "seg6local")
WANTED = target(DESIRED, {"eth1": 2}).objects
RULES = tuple(
    host.Rule(o.priority, o.to, IPv6Network(o.source or ANY), o.table, 86)
    for o in WANTED.values()
    if isinstance(o, Rule)
)
SOUND = host.Host(LINKS, RULES, (ROUTE,))


def levels(found):
    return [finding.level for finding in found]


def without(name):
    return replace(SOUND, links={n: link for n, link in LINKS.items() if n != name})


def with_link(name, **changed):
    return replace(SOUND, links=LINKS | {name: replace(LINKS[name], **changed)})


def sysctl(path, **changed):
    wanted = {o.path: o.value for o in WANTED.values() if isinstance(o, Sysctl)}
    return (wanted | {k.replace("__", "/"): v for k, v in changed.items()}).get(path)


def test_a_sound_node_has_no_findings():
    for found in (
        network.devices(WANTED.values(), SOUND),
        network.sysctls(WANTED.values(), SOUND, sysctl),
        network.rules(WANTED, SOUND),
        network.routes(WANTED, SOUND),
    ):
        assert levels(found) == [Level.OK]
    assert not [*network.shared_tables(SOUND)]
    assert not [*network.rp_filter(WANTED.values(), "0")]
    assert not [*network.source(DESIRED, SOUND)]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (without("red"), "red does not exist"),
        (without("srv6mgr"), "srv6mgr does not exist"),
        (with_link("srv6mgr", up=False), "srv6mgr is down"),
        (with_link("red", table=11), "red is on table 11, not 10"),
        (with_link("red", alias=""), "red is vrf of somebody else"),
        (with_link("eth1", master=""), "eth1 is in no VRF, not in red"),
        (with_link("eth1", up=False), "eth1 is down"),
        (with_link("eth1", carrier=False), "eth1 has no carrier"),
    ],
)
def test_devices(seen, words):
    (found,) = network.devices(WANTED.values(), seen)
    assert found.message == words
    assert found.remedy


def test_two_vrfs_on_one_table():
    other = host.Link("other", 9, "vrf", up=True, carrier=True, mtu=1500, table=10)
    (found,) = network.shared_tables(replace(SOUND, links=LINKS | {"other": other}))
    assert "red and other share table 10" in found.message


def test_sysctls():
    off = dict.fromkeys(["net/vrf/strict_mode"], "0")
    (found,) = network.sysctls(WANTED.values(), SOUND, lambda p: off.get(p) or sysctl(p))
    assert found.message == "net.vrf.strict_mode is 0, and has to be 1"
    assert found.remedy.startswith("sysctl -w net.vrf.strict_mode=1")
    # Those of a device that is absent are not reported once more.
    gone = without("red")
    assert levels(
        network.sysctls(WANTED.values(), gone, lambda p: None if "/red/" in p else sysctl(p))
    ) == [Level.OK]


def test_rp_filter_of_all_outweighs():
    (found,) = network.rp_filter(WANTED.values(), "2")
    assert "rp_filter is 2" in found.message


def test_a_rule_that_is_gone():
    left = tuple(rule for rule in RULES if rule.priority != 2000)
    (found,) = network.rules(WANTED, replace(SOUND, rules=left))
    assert found.message == "rule 2000 to fcbb:0:1::/48 lookup 8986 is not there"
    stranger = replace(next(r for r in RULES if r.priority == 2000), protocol=0)
    assert Level.FAIL in levels(network.rules(WANTED, replace(SOUND, rules=(*left, stranger))))


@pytest.mark.parametrize(
    ("foreign", "hides"),
    [
        (host.Rule(100, IPv6Network(SID), ANY, 0, 0), True),
        (host.Rule(100, IPv6Network("fcbb::/16"), ANY, 7, 0), True),
        (host.Rule(3000, IPv6Network(SID), ANY, 0, 0), False),
        (host.Rule(100, IPv6Network("2001:db8::/32"), ANY, 0, 0), False),
        (host.Rule(0, ANY, ANY, 255, 2), False),
    ],
)
def test_foreign_rules(foreign, hides):
    found = network.rules(WANTED, replace(SOUND, rules=(foreign, *RULES)))
    assert (levels(found) == [Level.FAIL]) is hides
    if hides:
        assert found[0].remedy == f"ip -6 rule del pref 100 to {foreign.to}"


def test_routes_that_are_gone_or_hidden():
    (gone,) = network.routes(WANTED, replace(SOUND, routes=()))
    assert gone.message == f"SID {SID} is not in table 8986"
    hiding = host.Route(IPv6Network(SID), 8986, 7, 4, "blackhole", "")
    (hidden,) = network.routes(WANTED, replace(SOUND, routes=(ROUTE, hiding)))
    assert hidden.remedy == f"ip -6 route del {SID} table 8986 metric 7"
    harmless = replace(hiding, prefix=IPv6Network("fcbb:0:1:77::/64"))
    found = network.routes(WANTED, replace(SOUND, routes=(ROUTE, harmless)))
    assert levels(found) == [Level.OK, Level.NOTE]


def test_the_boundary():
    (wanted,) = (o for o in WANTED.values() if isinstance(o, Boundary))
    assert levels(network.boundary(WANTED.values(), wanted)) == [Level.OK]
    (gone,) = network.boundary(WANTED.values(), None)
    assert "is not there: customers can reach SIDs" in gone.message
    assert levels(network.boundary(WANTED.values(), Boundary((), (), ()))) == [Level.FAIL]
    assert levels(network.boundary([], None)) == [Level.SKIP]


def test_the_encapsulation_source_is_an_address_of_the_node():
    desired = replace(DESIRED, encapsulation_source=IPv6Address("2001:db8::1"))
    (found,) = network.source(desired, SOUND)
    assert found.remedy == "ip address add 2001:db8::1/128 dev lo"
    held = replace(SOUND, addresses=frozenset({IPv6Address("2001:db8::1")}))
    assert not [*network.source(desired, held)]


def test_options_of_the_kernel_behind_what_it_lacks(monkeypatch):
    options = {"NET_VRF": "m", "NET_L3_MASTER_DEV": "y"}
    monkeypatch.setattr("srv6mgrd.cli.doctor.kernel._configured", lambda: options)
    offered = {
        "behavior": ["srv6mgr-srv6:End"],
        "missing": [
            {"name": "vrf", "reason": "Operation not supported"},
            {"name": "End", "reason": "Operation not supported"},
            {"name": "End psp", "reason": "the kernel ignores it"},
        ],
    }
    _, vrf, end, flavor = kernel(offered)
    assert (vrf.level, vrf.remedy) == (Level.WARN, "modprobe vrf")
    assert (end.level, end.remedy) == (Level.FAIL, "use a kernel with CONFIG_IPV6_SEG6_LWTUNNEL")
    assert flavor.level is Level.NOTE
    assert levels(kernel({})) == [Level.SKIP]


@pytest.mark.parametrize(
    ("files", "bad"),
    [
        ({}, False),
        ({"run/systemd/netif/state": ""}, True),
        ({"run/systemd/netif/state": "",
          "etc/systemd/networkd.conf": "[Network]\nManageForeignRoutes=no\n"}, True),
        ({"run/systemd/netif/state": "",
          "usr/lib/systemd/networkd.conf.d/x.conf":
          "[Network]\n#c\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules = no\n"}, False),
        ({"run/systemd/netif/state": "",
          "etc/systemd/networkd.conf.d/x.conf": "[Network]\nManageForeignRoutes=yes\n",
          "usr/lib/systemd/networkd.conf.d/x.conf":
          "[Network]\nManageForeignRoutes=no\nManageForeignRoutingPolicyRules=no\n"}, True),
    ],
)  # fmt: skip
def test_networkd(tmp_path, files, bad):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = networkd(tmp_path)
    assert (found.level is Level.WARN) is bad


@pytest.mark.parametrize(
    ("answer", "level"),
    [(b"+PONG\r\n", Level.OK), (b"-NOAUTH\r\n", Level.FAIL), (b"-LOADING x\r\n", Level.WARN)],
)
def test_redis(tmp_path, answer, level):
    path = str(tmp_path / "r")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def serve():
            client, _ = server.accept()
            with client:
                client.recv(64)
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        assert levels(redis(path)) == [level]
        thread.join()


def test_no_redis(tmp_path):
    (found,) = redis(str(tmp_path / "none"))
    assert found.level is Level.FAIL
    assert "No such file" in found.message
    assert levels(redis("")) == [Level.SKIP]


@pytest.fixture
def node(ctl, tmp_path, monkeypatch):
    """A world in which doctor looks at a sound network and at no process outside of the test."""
    settings = (
        f'runtime_directory = "{tmp_path}"\nfrr_directory = "{tmp_path}"\nredis_socket = ""\n'
    )
    (tmp_path / "settings.toml").write_text(settings)
    ctl.client.modules = lambda: MODULES
    ctl.client.startup = ctl.client.running
    monkeypatch.setattr(host, "read", lambda **_: SOUND)
    monkeypatch.setattr(host, "sysctl", sysctl)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("srv6mgrd.cli.doctor.kernel.probed", dict)
    return ctl


def test_doctor_sums_up(node):
    node.report()
    shown = node.run("doctor", "--json")
    assert shown.status == 0
    reported = {f["check"]: f["level"] for f in shown.json["findings"]}
    assert reported["routes"] == "ok"
    assert reported["sysrepo"] == "ok"
    assert shown.json["summary"]["ok"] > 4
    assert "0 failures" in node.run("doctor").out


def condition(severity, cause="the session is Active"):
    return {
        "type": "bgp-session-down",
        "resource": "/srv6mgr-srv6:srv6/srv6mgr-bgp:bgp",
        "object": "BGP",
        "severity": severity,
        "cause": cause,
        "remedy": "ping it",
    }


@pytest.mark.parametrize(
    ("state", "severity", "status", "level"),
    [
        ("up", "warning", 0, "note"),
        ("degraded", "minor", DEGRADED, "warn"),
        ("down", "major", DOWN, "fail"),
        ("down", "critical", DOWN, "fail"),
    ],
)
def test_doctor_ends_by_the_state_of_services(node, state, severity, status, level):
    node.report()
    node.judge(state, condition(severity))
    shown = node.run("doctor", "--json")
    assert shown.status == status
    found = {f["level"]: f for f in shown.json["findings"] if f["check"] == "service"}
    assert found[level]["message"] == "BGP: the session is Active"
    assert found[level]["remedy"] == "ping it"
    assert ("ok" in found) is (state == "up")


def test_doctor_says_that_the_state_of_services_is_not_known(node):
    node.report()
    node.judge("unknown")
    shown = node.run("doctor")
    assert shown.status == UNKNOWN
    assert "the state of 1 VRF is not known yet" in shown.out


def test_doctor_works_without_srv6mgrd_and_sysrepo(node):
    node.managed = False
    node.client.trouble = Problem.of("sysrepo", "it is away", "start it", Exit.UNREACHABLE)
    shown = node.run("doctor", "--quiet")
    assert shown.status == DOWN
    assert "srv6mgrd      it is not running" in shown.out
    assert "sysrepo       it is away" in shown.out
    assert "-> start it" in shown.out
    assert "ok  " not in shown.out


def test_doctor_says_that_shared_memory_is_full(node, monkeypatch):
    node.report()
    monkeypatch.setattr("srv6mgrd.datastore.shared_memory.free", lambda: 65536)
    shown = node.run("doctor", "--quiet")
    assert shown.status == DOWN
    assert "/dev/shm has 64 KiB left: commits are rejected" in shown.out
    assert "mount -o remount,size=" in shown.out


def test_doctor_tells_what_is_not_installed(node):
    node.report(InstallStatus.FAILED, "SID x: the kernel has no VRF; load the module vrf")
    shown = node.run("doctor", "-q")
    assert shown.status == DOWN
    assert f"SID {SID} is failed: SID x: the kernel has no VRF" in shown.out
    assert "-> load the module vrf" in shown.out


def test_doctor_reports_each_module_that_is_absent(node):
    node.report()
    node.client.modules = lambda: frozenset({"srv6mgr-srv6"})
    shown = node.run("doctor", "-q")
    absent = ", ".join(sorted(MODULES - {"srv6mgr-srv6"}))
    assert f"YANG modules are not installed: {absent}" in shown.out


def test_an_open_boundary_is_warned_of():
    state = replace(DESIRED, default_role=Role.CORE)
    links = dict.fromkeys(("lo", "eth1", "red", "to-p"))

    (found,) = network.domain_of(state, host.Host(links=links))

    assert found.level is Level.WARN
    assert found.message.startswith("to-p can reach SIDs, since default-role is core")
    assert found.remedy.endswith("then boundary/default-role to customer")


@pytest.mark.parametrize(
    ("obj", "changed", "words"),
    [
        (VlanDevice("v", "eth1", 5), {}, "v does not exist"),
        (VlanDevice("eth1", "eth2", 5), {"kind": "veth"}, "eth1 is veth of somebody else"),
        (LinkMtu("eth1", 9000), {}, "eth1 has MTU 1500, declared is 9000"),
        (AdminState("eth1", up=True), {"up": False}, "eth1 is down, which is not declared"),
        (
            InterfaceAddress("eth1", ip_interface("fd00::1/64")),
            {},
            "eth1 lacks its address fd00::1/64",
        ),
    ],
)
def test_an_interface_that_is_not_as_declared(obj, changed, words):
    (found,) = network.devices([obj], with_link("eth1", **changed))

    assert (found.level, found.message) == (Level.FAIL, words)


def test_an_interface_that_is_as_declared():
    wanted = [LinkMtu("eth1", 1500), AdminState("eth1", up=True)]
    address = InterfaceAddress("eth1", ip_interface("fd00::1/64"))
    there = replace(SOUND, addresses_of={"eth1": (ip_interface("fd00::1/64"),)})

    assert levels(network.devices([*wanted, address], there)) == [Level.OK]


DECLARED = {
    "interfaces": {
        "interface": [
            {"name": "to-p", "role": "core"},
            {"name": "eth1", "role": "customer"},
            {"name": "lo1", "srv6mgr-interfaces:type": "loopback"},
        ]
    },
    "vrfs": {"vrf": [{"name": "red", "table-id": 10, "interface": ["eth1"]}]},
}
TO_P = host.Link("to-p", 7, "", up=True, carrier=True, mtu=1500)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (None, "to-p does not exist"),
        (replace(TO_P, up=False, carrier=False), "to-p is down"),
        (replace(TO_P, carrier=False), "to-p has no carrier"),
    ],
)
def test_declared_interfaces_are_looked_at(link, words):
    desired = parse({"srv6mgr-srv6:srv6": DECLARED})
    links = {"to-p": link} if link is not None else {}
    (found,) = network.interfaces(desired, replace(SOUND, links={**LINKS, **links}))
    assert (found.level, found.message) == (Level.WARN, words)
    assert found.remedy


def test_declared_interfaces_that_are_up_or_not_to_be():
    desired = parse({"srv6mgr-srv6:srv6": DECLARED})
    sound = replace(SOUND, links={**LINKS, "to-p": TO_P})
    assert levels(network.interfaces(desired, sound)) == [Level.OK]
    assert network.interfaces(DESIRED, SOUND) == []
    down = {"name": "to-p", "srv6mgr-interfaces:enabled": False}
    off = {"srv6mgr-srv6:srv6": {"interfaces": {"interface": [down]}}}
    is_down = replace(SOUND, links={"to-p": replace(TO_P, up=False, carrier=False)})
    assert levels(network.interfaces(parse(off), is_down)) == [Level.OK]
