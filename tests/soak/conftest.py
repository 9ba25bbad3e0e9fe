"""What the rounds share: FRR on both edges, and the seed of a round."""

from __future__ import annotations

import os
import random

import pytest

from tests.contract.frr.conftest import pes, profile, programs

__all__ = ["pes", "profile", "programs"]


@pytest.fixture
def rng() -> random.Random:
    """Chance that ``SOAK_SEED`` decides; test modules take nothing from elsewhere."""
    return random.Random(os.environ.get("SOAK_SEED", "0"))
