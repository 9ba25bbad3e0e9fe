"""What customers send, by the rules of a classifier, onto paths of chains."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from srv6mgrd.kinds.chain.object import ChainPrograms, ClassifierHook
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ClassifierRule
from tests.contract.chains.network import (
    CHAIN,
    CLASSIFIER,
    FUNCTION_SIDS,
    PORT,
    SITE_SIDS,
    Network,
    everything,
    path,
    rules,
)

pytestmark = pytest.mark.contract

IP = (Family.IPV6, Family.IPV4)


@pytest.mark.parametrize("family", IP)
def test_onto_a_path(network: Network, family: Family) -> None:
    by_firewall = path("firewall", family=family)
    network.declare(by_firewall, rules(everything()))

    assert network.ping(family) == 3

    assert network.by_rule() >= 3
    assert network.on_path(by_firewall) == 3
    assert network.through(FUNCTION_SIDS["firewall"]) == 3
    assert network.through(SITE_SIDS[family]) == 3


@pytest.mark.parametrize("family", IP)
def test_streams(network: Network, family: Family) -> None:
    """Super-packets."""
    by_firewall = path("firewall", family=family)
    network.declare(by_firewall, rules(everything()))

    network.transfer(family, 1 << 20)

    assert network.on_path(by_firewall) > 1 << 9


def test_what_is_written_is_read_back(network: Network) -> None:
    objects = (
        ChainPrograms(),
        path("firewall", "cache"),
        path("firewall", family=Family.IPV4, preference=7, weight=3),
        path(preference=9),
        rules(
            ClassifierRule(1, None, family=Family.IPV4, source=ip_network("10.1.0.0/16")),
            ClassifierRule(
                2, CHAIN, destination=ip_network("2001:db8:2::/48"), protocol=6,
                source_ports=(1024, 65535), destination_ports=(80, 80), dscp=46, mark=7,
            ),
            ClassifierRule(3, CHAIN),
        ),
        ClassifierHook(PORT, CLASSIFIER),
    )  # fmt: skip
    network.create(*objects)

    assert network.observed() == set(objects)

    network.delete(*objects[::-1])
    assert network.observed() == set()
    assert not network.programs.folder.exists()
