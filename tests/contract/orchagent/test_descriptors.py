"""srv6-orchagent without a file descriptor left: it neither spins nor ends, and goes on."""

from __future__ import annotations

from tests.contract.descriptors import check_calm
from tests.contract.orchagent.conftest import Agent


def test_without_descriptors_it_waits_and_goes_on(agent: Agent) -> None:
    assert agent._process is not None
    check_calm(agent._process.pid)
    agent.row("SRV6_MY_SID_TABLE:32:16:16:0:fcbb:0:1:1::", action="end")
    agent.wait_until(lambda: agent.objects("MY_SID_ENTRY"))
    assert agent.status is None
