"""Random commits, drift, refusals and restarts on the stand-in for the kernel."""

from tests.property.machine import Router

TestRouter = Router.TestCase
