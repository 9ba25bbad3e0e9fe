"""How routes of ours get into the kernel.

What decides whether a route is hit: IPv6 and IPv4 both find a route to replace by table, prefix
and metric (fib6_add_rt2node, fib_table_insert), so the metric is always written. A deletion names
the protocol too, so that it never hits a foreign route (ip6_route_del, fib_table_delete). Never
NLM_F_APPEND: a second route to a SID is a leg that nobody asked for.
"""

from __future__ import annotations

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import KernelKind, not_ours_to_write
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import Route
from srv6mgrd.netlink import routes
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Action, Create, Delete, Replace


class KernelRoute(KernelKind):
    """Puts and deletes routes of its kinds, mostly with one message."""

    def put(self, batch: Batch, route: Route, flags: int) -> bytes | Failure | None:
        """The request that puts a route; flags routes.CREATE or REPLACE. None when it takes more
        than a message: then ``put_alone`` does it."""
        return not_ours_to_write(route)

    def put_alone(self, batch: Batch, route: Route, flags: int) -> Failure | None:
        request = self.put(batch, route, flags)
        return batch.one(request) if isinstance(request, bytes) else request

    def deletion(self, route: Route) -> bytes:
        """The request that deletes a route; one of our protocol alone is hit."""
        return routes.delete(*route.place)

    def packed(self, batch: Batch, action: Action) -> bytes | Failure | None:
        route = action.object
        assert isinstance(route, Route)
        if isinstance(action, Delete):
            return self.deletion(route)
        if isinstance(action, Create):
            return self.put(batch, route, routes.CREATE)
        if _same_place(action.before, route):
            return self.put(batch, route, routes.REPLACE)
        return None

    def write(self, batch: Batch, action: Action) -> Failure | None:
        route = action.object
        assert isinstance(route, Route)
        if not isinstance(action, Replace):
            return self.put_alone(batch, route, routes.CREATE)
        if _same_place(action.before, route):
            return self.put_alone(batch, route, routes.REPLACE)
        # Its place in the kernel changes: the new one first, then the old.
        failure = self.put_alone(batch, route, routes.CREATE)
        return failure or batch.remove_object(action.before)


def _same_place(before: Object, after: Route) -> bool:
    return isinstance(before, Route) and before.place == after.place
