"""How hard to look: seconds by default, HYPOTHESIS_PROFILE=thorough for as long as it takes.

Threads are checked (srv6mgrd/threads.py), in the daemons that tests start, too."""

import os

# Before anything of the product is imported.
os.environ.setdefault("SRV6MGR_CHECK_THREADS", "1")

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck)}

settings.register_profile(
    "quick", max_examples=40, stateful_step_count=25, derandomize=True, **_COMMON
)
settings.register_profile("thorough", max_examples=2000, stateful_step_count=60, **_COMMON)
# Set by a round of `make soak`: more examples, picked by its seed.
IS_SOAK = "SOAK_SEED" in os.environ

# By the seed of a round (tests/soak): other examples each time.
settings.register_profile("soak", max_examples=200, stateful_step_count=40, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
