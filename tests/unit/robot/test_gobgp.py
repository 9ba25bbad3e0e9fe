"""What the speaker made of GoBGP has written."""

from __future__ import annotations

import json

from tests.robot.library.exabgp import Route
from tests.robot.library.gobgp import routes

REPORTED = {
    "withdrawn": False,
    "rd": "65000:110",
    "prefix": "10.1.0.0/24",
    "next-hop": "2001:db8::1",
    "targets": ["65000:10"],
    "label": 1600,
    "sid": "fcbb:0:1::",
    "behavior": 20,
    "structure": [32, 16, 16, 0, 16, 48],
}


def test_a_function_in_the_label_is_put_into_the_sid() -> None:
    assert routes(json.dumps(REPORTED)) == {
        ("65000:110", "10.1.0.0/24"): Route(
            "fcbb:0:1:64::", "0x14", "2001:db8::1", "target:65000:10"
        )
    }


def test_what_is_withdrawn_goes() -> None:
    gone = {**REPORTED, "withdrawn": True, "structure": None, "targets": None}
    assert routes(f"{json.dumps(REPORTED)}\n{json.dumps(gone)}") == {}
