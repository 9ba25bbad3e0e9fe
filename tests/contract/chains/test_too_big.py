"""Packets that do not fit the underlay with their path's header on: their senders are notified."""

from __future__ import annotations

import pytest

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import Way
from tests.contract.chains.network import CHAIN, SITE, Network, everything, path, rules

pytestmark = pytest.mark.contract

# Of the underlay, less the outer header with two segments.
FITS = 1500 - 40 - 8 - 32


@pytest.fixture
def narrow(network: Network) -> Network:
    """An underlay that carries as little as the host's link."""
    network.run("ip link set core mtu 1500")
    families = (Family.IPV4, Family.IPV6)
    network.declare(*(path("firewall", family=f) for f in families), rules(everything()))
    return network


def dropped(network: Network) -> int:
    return network.kernel.chain_counts().drops[CHAIN, Way.FORWARD].too_big


@pytest.mark.parametrize(("family", "header"), [(Family.IPV6, 48), (Family.IPV4, 28)])
def test_the_host_learns_the_mtu(narrow: Network, family: Family, header: int) -> None:
    whole = FITS - header
    assert narrow.ping(family, size=whole, more="-M do") == 3
    assert dropped(narrow) == 0

    assert narrow.ping(family, size=whole + 1, more="-M do") == 0

    assert dropped(narrow) > 0
    shown = narrow.on("host", f"ip route get {SITE[family]}")
    assert f"mtu {FITS}" in shown
    # It cuts them itself now.
    assert narrow.ping(family, size=whole + 1) == 3


@pytest.mark.parametrize(("family", "header"), [(Family.IPV6, 48), (Family.IPV4, 28)])
def test_the_host_of_a_vrf(narrow: Network, vrf: None, family: Family, header: int) -> None:
    narrow.join("red")

    assert narrow.ping(family, size=FITS - header + 1, more="-M do") == 0

    shown = narrow.on("host", f"ip route get {SITE[family]}")
    assert f"mtu {FITS}" in shown


@pytest.mark.parametrize("family", [Family.IPV6, Family.IPV4])
def test_streams_go_on(narrow: Network, family: Family) -> None:
    narrow.transfer(family, 1 << 20)

    assert narrow.on_path(path("firewall", family=family)) > 0
