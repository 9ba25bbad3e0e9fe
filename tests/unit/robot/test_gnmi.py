"""Lines of a Set, and notifications as pygnmi gives them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.robot.library.gnmi import (
    SRV6,
    Subscription,
    absolute,
    bare,
    deletes_of,
    not_installed,
    operations,
    updates_of,
)

SID = "local-sids/sid[prefix=fcbb:0:1:64::/64]"


def test_operations() -> None:
    asked = operations(
        ['update vrfs/vrf[name=red] {"table-id": 10}', f"delete {SID}", 'replace /a/b "c d"']
    )
    assert asked == {
        "update": [(f"{SRV6}/vrfs/vrf[name=red]", {"table-id": 10})],
        "delete": [f"{SRV6}/{SID}"],
        "replace": [("/a/b", "c d")],
    }


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("srv6mgr-srv6:srv6/vrfs", "vrf[name=red]"), "/srv6/vrfs/vrf[name=red]"),
        (("", f"{SRV6}/{SID}/state"), f"/srv6/{SID}/state"),
        (("/a:b[c=d:e/f]/",), "/b[c=d:e/f]"),
    ],
)
def test_absolute(parts: tuple[str, ...], path: str) -> None:
    assert absolute(*parts) == path


def test_notification() -> None:
    answer = {
        "update": {
            "prefix": "srv6mgr-srv6:srv6",
            "update": [{"path": f"{SID}/behavior", "val": "End"}],
            "delete": [{"path": "vrfs/vrf[name=red]"}],
        }
    }
    assert updates_of(answer) == {f"/srv6/{SID}/behavior": "End"}
    assert deletes_of(answer) == ["/srv6/vrfs/vrf[name=red]"]
    assert updates_of({"sync_response": True}) == {}


class Server:
    """Answers that come one after the other; then nothing comes."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)

    def next(self, subscription: int, timeout: float) -> dict[str, Any] | None:
        return self._answers.pop(0) if self._answers else None


def reported(*answers: dict[str, Any]) -> Subscription:
    return Subscription(Server(*answers), 0)  # type: ignore[arg-type]


def update(path: str, value: Any) -> dict[str, Any]:
    return {"update": {"update": [{"path": path, "val": value}]}}


def test_held_is_what_notifications_add_up_to() -> None:
    stream = reported(
        update("a/b", 1), update("a/c", 2), {"update": {"delete": [{"path": "a/b"}]}},
        {"sync_response": True},
    )  # fmt: skip
    stream.until(lambda _: stream.synced, 1)
    assert stream.held == {"/a/c": 2}


def test_not_reported_in_time() -> None:
    with pytest.raises(AssertionError, match=r"not told within 1 s; told were \{'/a': 1\}"):
        reported(update("a", 1)).until(lambda held: held.get("/a") == 2, 1)


def test_bare() -> None:
    assert bare({"m:a": [{"n:b": "m:c"}]}) == {"a": [{"b": "m:c"}]}


def test_not_installed() -> None:
    tree = {
        "vrf": [
            {"name": "red", "state": {"install-status": "installed"}},
            {"name": "blue", "state": {"install-status": "pending"}},
        ]
    }
    assert not_installed(tree) == ["/vrf[1]/state: pending"]
