"""What srv6ctl doctor says of FRR."""

import json
from ipaddress import IPv4Address

from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.doctor.frr import capabilities_of_frr, descriptors, neighbors, underlay
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.capabilities import FrrCapabilities
from srv6mgrd.model.desired import Desired, Vrf
from tests.unit.frr.test_isis import SPOKEN, WANTED
from tests.unit.frr.test_isis_status import Shown

BGP = Bgp(65000, IPv4Address("10.0.0.1"), (Neighbor("fc00::1", 65000), Neighbor("fc00::2", 65000)))


class Summary:
    """Shows that bgpd answers with this summary."""

    def __init__(self, **families):
        self.families = families

    def show(self, daemon, command):
        assert (daemon, command) == ("bgpd", "show bgp summary json")
        if "rejected" in self.families:
            raise VtyError(110, "bgpd does not answer")
        peers = {f: {"peers": {p: {"state": s}}} for f, (p, s) in self.families.items()}
        return json.dumps(peers)


def test_descriptors_for_each_vrf():
    """25 at the start, 65 with 20 VRFs: so it was seen with bgpd 10.3."""
    bgp = VrfBgp("65000:1", (), ())
    vrfs = {f"v{n}": Vrf(f"v{n}", 100 + n, bgp=bgp) for n in range(500)}
    desired = Desired(vrfs=vrfs, bgp=BGP)
    for limit in (None, 1027, 16384):
        assert list(descriptors(desired, limit)) == []
    (found,) = descriptors(desired, 1024)
    assert found.level is Level.WARN
    assert "bgpd may have 1024 file descriptors and needs 1027" in found.message
    assert "LimitNOFILE of frr.service" in found.remedy


def test_sessions_that_are_up():
    bgp = Bgp(65000, IPv4Address("10.0.0.1"), BGP.neighbors[:1])
    (found,) = neighbors(bgp, Summary(ipv4Vpn=("fc00::1", "Established")))
    assert (found.level, found.message) == (Level.OK, "1 session for VPN routes established")


def test_sessions_that_are_not():
    found = neighbors(BGP, Summary(ipv6Vpn=("fc00::1", "Active")))
    assert [f.level for f in found] == [Level.WARN, Level.WARN]
    assert found[0].message.startswith("the session with fc00::1 is Active")
    assert found[1].message == "no VPN routes are exchanged with fc00::2"
    assert "show bgp neighbors fc00::2" in found[1].remedy


def test_a_bgpd_that_does_not_answer():
    (found,) = neighbors(BGP, Summary(rejected=()))
    assert (found.level, found.message) == (Level.SKIP, "bgpd does not answer")


def test_no_daemon_answers():
    (found,) = neighbors(Bgp(65000, IPv4Address("10.0.0.1")), Summary())
    assert found.level is Level.WARN


def test_the_underlay():
    (found,) = underlay(WANTED, SPOKEN, Shown())
    words = "locator MAIN is advertised, every interface has a neighbor"
    assert (found.level, found.message) == (Level.OK, words)
    (found,) = underlay(WANTED, SPOKEN, Shown(met="lo"))
    assert found.level is Level.WARN
    assert found.message.endswith("does not reach other routers: no IS-IS neighbor at core")


def test_which_frr_runs():
    stock, lacks = capabilities_of_frr(FrrCapabilities(version="10.3"), needed=True)
    assert "version 10.3 (stock)" in stock.message
    assert "don't count" in lacks.message
    patched, lacks = capabilities_of_frr(FrrCapabilities(version="10.3+srv6mgr1"), needed=True)
    assert "with the patches of srv6mgr" in patched.message
    assert "ends when" not in lacks.message


def test_what_it_lacks():
    absent = FrrCapabilities(missing={"frr": "bgpd does not run; start it"})
    (found,) = capabilities_of_frr(absent, needed=True)
    assert (found.level, found.message, found.remedy) == (
        Level.FAIL,
        "bgpd does not run",
        "start it",
    )
    assert [f.level for f in capabilities_of_frr(absent, needed=False)] == [Level.NOTE]
    old = FrrCapabilities(version="8.4", missing={"frr-locator": "zebra knows no command"})
    assert next(iter(capabilities_of_frr(old, needed=True))).level is Level.WARN
