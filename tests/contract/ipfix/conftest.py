"""A real srv6-metricsd, as the contract tests of metrics have it."""

from tests.contract.metrics.conftest import place, start

__all__ = ["place", "start"]
