"""Reading by NACM (RFC 8341 section 3.4.5)."""

from __future__ import annotations

from typing import Any

import pytest

from srv6mgrd.gnmi.change import Change, select
from srv6mgrd.gnmi.mirror import apply, tree
from srv6mgrd.gnmi.path import Path, Pattern, elems, parse, resolve, text
from srv6mgrd.gnmi.projections import VIEWS
from srv6mgrd.gnmi.rights import Policy, Rights
from srv6mgrd.gnmi.rights import parse as policy
from srv6mgrd.gnmi.view import Model, Selection, Snapshot
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.unit.gnmi.models import schema

TOP = schema()
MODEL = Model(TOP, VIEWS)
SID = "fcbb:0:1:64::/64"
RED, BLUE = "/srv6/vrfs/vrf[name=red]", "/srv6/vrfs/vrf[name=blue]"
CONFIG = tree(
    TOP,
    {
        "srv6mgr-srv6:srv6": {
            "vrfs": {
                "vrf": [
                    {"name": "red", "table-id": 100, "srv6mgr-bgp:bgp": {"rd": "1:1"}},
                    {"name": "blue", "table-id": 200},
                ]
            },
            "local-sids": {"sid": [{"prefix": SID, "vrf": "red"}]},
        }
    },
)


def rule(action: str, **more: Any) -> dict[str, Any]:
    return {"name": "r", "action": action, **{k.replace("_", "-"): v for k, v in more.items()}}


def nacm(*rules: dict[str, Any], **more: Any) -> Policy:
    return policy(
        {
            "groups": {"group": [{"name": "staff", "user-name": ["alice"]}]},
            "rule-list": [{"name": "l", "group": ["staff"], "rule": list(rules)}],
            **{k.replace("_", "-"): v for k, v in more.items()},
        }
    )


def rights(found: Policy, user: str = "alice", external: frozenset[str] = frozenset()) -> Rights:
    return Rights(user, lambda: found, lambda _: external, MODEL.source_of)


def at(string: str, origin: str = "") -> Pattern:
    (pattern,) = resolve(TOP, Path(parse(string), origin), VIEWS)
    return pattern


@pytest.mark.parametrize(
    ("found", "path", "permitted"),
    [
        (nacm(), RED, True),
        (nacm(read_default="deny"), RED, False),
        (nacm(rule("deny"), enable_nacm=False), RED, True),
        (nacm(rule("deny")), RED, False),
        (nacm(rule("deny", access_operations="create update")), RED, True),
        (nacm(rule("deny", access_operations="update read")), RED, False),
        (nacm(rule("deny", rpc_name="commit")), RED, True),
        (nacm(rule("deny", module_name="srv6mgr-bgp")), f"{RED}/bgp/rd", False),
        (nacm(rule("deny", module_name="srv6mgr-bgp")), f"{RED}/table-id", True),
        (nacm(rule("permit"), rule("deny")), RED, True),
        (nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs")), f"{RED}/table-id", False),
        (nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs")), "/srv6/local-sids", True),
        (nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs/vrf[name='red']")), RED, False),
        (nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs/vrf[name='red']")), BLUE, True),
        (nacm(rule("deny", path='/srv6mgr-srv6:srv6/vrfs/vrf[srv6mgr-srv6:name="red"]')), RED,
         False),
        (nacm(rule("deny", path="/srv6mgr-bgp:srv6/vrfs")), RED, True),
    ],
)  # fmt: skip
def test_the_first_rule_that_matches_decides(found: Policy, path: str, permitted: bool) -> None:
    assert rights(found)(at(path)) is permitted
    # And again, from what it remembers.
    assert rights(found)(at(path)) is permitted


def test_rules_are_for_groups() -> None:
    found = nacm(rule("deny"))
    assert rights(found, "bob")(at(RED))
    assert not rights(found, "bob", frozenset({"staff"}))(at(RED))
    without = nacm(rule("deny"), enable_external_groups=False)
    assert rights(without, "bob", frozenset({"staff"}))(at(RED))
    everybody = policy({"rule-list": [{"name": "l", "group": ["*"], "rule": [rule("deny")]}]})
    assert not rights(everybody, "bob")(at(RED))
    assert rights(everybody, "root")(at(RED))


@pytest.mark.parametrize(
    ("found", "permitted"),
    [
        (nacm(), False),
        (nacm(read_default="deny"), False),
        (nacm(enable_nacm=False), True),
        (nacm(rule("permit")), True),
        (nacm(rule("permit", path="/srv6mgr-srv6:srv6", access_operations="create")), False),
        (nacm(rule("permit", path="/srv6mgr-srv6:srv6/vrfs")), True),
        (nacm(rule("deny"), rule("permit")), False),
    ],
)
def test_only_a_rule_opens_what_is_denied_by_default(found: Policy, permitted: bool) -> None:
    top = schema()
    (whole,) = resolve(top, Path(parse(f"{RED}/bgp/rd")))
    whole[-1].node.hidden = True
    assert rights(found)(whole) is permitted
    bob, nobody = (
        Rights(user, lambda: found, lambda _: frozenset(), MODEL.source_of)
        for user in ("bob", None)
    )
    assert bob(whole) is nobody(whole) is not found.enabled
    assert rights(found, "root")(whole)


@pytest.mark.parametrize(
    ("found", "changes"),
    [
        (nacm(), False),
        (nacm(rule("permit", access_operations="read")), False),
        (nacm(rule("deny", access_operations="*")), False),
        (nacm(rule("permit")), True),
        (nacm(rule("permit", access_operations="read update")), True),
        (nacm(rule("permit", access_operations="exec", rpc_name="confirm")), True),
        # What the packages permit to viewers changes nothing.
        (nacm(rule("permit", access_operations="exec", rpc_name="compare")), False),
        (nacm(rule("permit", module_name="ietf-netconf", rpc_name="kill-session")), False),
        (nacm(rule("permit", notification_name="*")), False),
        (nacm(write_default="permit"), True),
        (nacm(enable_nacm=False), True),
    ],
)
def test_who_may_change_anything(found: Policy, changes: bool) -> None:
    assert rights(found).may_change() is changes
    assert rights(found, "root").may_change()
    assert rights(found, "bob", frozenset({"staff"})).may_change() is changes


def test_a_change_of_the_rules_is_felt_at_once() -> None:
    now = [nacm()]
    alice = Rights("alice", lambda: now[0], lambda _: frozenset(), MODEL.source_of)
    assert alice(at(RED))
    now[0] = nacm(rule("deny"))
    assert not alice(at(RED))


def test_a_view_shows_no_sid_that_is_hidden() -> None:
    entry = at(f"/network-instances/network-instance[name=DEFAULT]/afts/ipv6-unicast"
               f"/ipv6-entry[prefix={SID}]/state/prefix", "openconfig")  # fmt: skip
    sid = f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{SID}']"
    assert not rights(nacm(rule("deny", path=sid)))(entry)
    assert not rights(nacm(rule("deny", path="/srv6mgr-srv6:srv6/local-sids")))(entry)
    assert rights(nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs")))(entry)


def test_what_is_hidden_is_neither_read_nor_reported() -> None:
    hidden = rights(nacm(rule("deny", path="/srv6mgr-srv6:srv6/vrfs/vrf[name='red']")))
    chosen = Selection(lambda _: True, hidden)
    status = {ObjectRef(Kind.VRF, name): ObjectStatus(InstallStatus.INSTALLED) for name in
              ("red", "blue")}  # fmt: skip
    before = Snapshot(MODEL, CONFIG, status)
    read = [text(elems(path)) for path, _ in before.leaves((), CONFIG, chosen)]
    assert f"{BLUE}/state/install-status" in read
    assert not [path for path in read if path.startswith(RED)]
    assert "red" not in str(before.subtree((), CONFIG, chosen)["srv6mgr-srv6:srv6"]["vrfs"])
    diff = {"srv6mgr-srv6:srv6": {"vrfs": {"@": {"yang:operation": "delete"}}}}
    after, touched = apply(TOP, CONFIG, diff)
    change = Change(1, before, Snapshot(MODEL, after, status), touched)
    subscribed = [(at(string), chosen) for string in (f"{RED}/table-id", f"{BLUE}/table-id")]
    updates, deletes = select(change, subscribed)
    assert [text(elems(path)) for path in deletes] == [f"{BLUE}/table-id"]
    assert not updates


def test_of_a_hidden_branch_that_goes_the_readable_leaves_are_reported() -> None:
    only = rights(nacm(rule("permit", path="/srv6mgr-srv6:srv6/vrfs"), read_default="deny"))
    diff = {"srv6mgr-srv6:srv6": {"@": {"yang:operation": "delete"}}}
    after, touched = apply(TOP, CONFIG, diff)
    change = Change(1, Snapshot(MODEL, CONFIG), Snapshot(MODEL, after), touched)
    _, deletes = select(change, [((), Selection(lambda _: True, only))])
    reported = {text(elems(path)) for path in deletes}
    assert f"{BLUE}/table-id" in reported
    assert not [path for path in reported if "local-sids" in path]
