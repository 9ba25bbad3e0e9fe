"""Random commits, drift, refusals and restarts on the stand-in for the kernel."""

from hypothesis import settings

from tests.property.machine import Router

TestRouter = Router.TestCase
# With fewer, some of its many rules never had a turn.
TestRouter.settings = settings(max_examples=max(200, settings().max_examples))
