"""Random commits, drift, rejections and restarts on the stand-in for the kernel."""

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from srv6mgrd.kinds.boundary.object import BOUNDARY_KEY, Boundary, UnknownBoundary
from tests.property.machine import Router


class RouterAtABoundary(Router):
    """Somebody changes the filter, too."""

    @rule(data=st.data(), marked=st.booleans())
    @precondition(lambda self: BOUNDARY_KEY in self.ours())
    def somebody_changes_the_filter(self, data, marked):
        obj = self.world.kernel.objects[BOUNDARY_KEY].object
        assume(isinstance(obj, Boundary))
        made = [
            Boundary((), obj.sids, obj.sources),
            Boundary(obj.interfaces, obj.sids[1:], obj.sources),
            UnknownBoundary("other rules"),
        ]
        self.changed(BOUNDARY_KEY, made, data, marked)


TestRouter = RouterAtABoundary.TestCase
# With fewer, some of its many rules never had a turn.
TestRouter.settings = settings(max_examples=max(200, settings().max_examples))
