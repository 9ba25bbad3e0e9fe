"""The order of very many actions is that of few."""

import random

from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.plan.actions import Create, Delete
from srv6mgrd.plan.order import in_order


def test_many_actions_are_in_the_order_of_few():
    routes = [
        SidRoute(Prefix.parse(f"fcbb:0:1:{n:x}::/64"), Behavior.END, 8986) for n in range(12_001)
    ]
    by_key = sorted(routes, key=lambda route: route.key)
    random.Random(1).shuffle(routes)

    ordered = in_order([*map(Create, routes[:6001]), *map(Delete, routes[6001:])])

    created = set(routes[:6001])
    assert ordered == [
        *(Create(route) for route in by_key if route in created),
        *(Delete(route) for route in reversed(by_key) if route not in created),
    ]
