"""srv6ctl ping and trace through service proxies."""

from __future__ import annotations

import subprocess
import sys

import pytest

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.network import FIRST, SOURCE, Network, declared

pytestmark = pytest.mark.contract


def ctl(network: Network, line: str) -> subprocess.CompletedProcess[str]:
    at = f"ip netns exec {network.name('source')}"
    return subprocess.run(
        f"{at} {sys.executable} -m srv6mgrd.cli.main {line}",
        shell=True, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("behavior", "option"), [(Behavior.END_AD, "--encap"), (Behavior.END_AM, "")]
)
def test_a_packet_goes_through_the_function_and_comes_back(
    network: Network, behavior: Behavior, option: str
) -> None:
    network.declare(declared(behavior, "ipv6", passes=("multicast",)))

    done = ctl(network, f"ping {FIRST} {option} --source {SOURCE['ipv6']} -c3 -i0.05")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("came back through it") == 3
    assert network.counts().from_packets >= 3
