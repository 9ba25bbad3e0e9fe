"""Set (gnmi-specification.md 3.4)."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.running import Running
from srv6mgrd.gnmi import models
from tests.contract.gnmi.client import (
    Client,
    Core,
    deletes,
    failing,
    ietf,
    path,
    shown,
    subscription,
    updates,
)
from tests.contract.gnmi.data import SID, SRV6

VRF = "/srv6/vrfs/vrf[name={}]"
LENGTH = "/srv6/locators/locator[name=main]/function-length"


def config(gnmi: Client) -> object:
    return gnmi.get("/", encoding=pb.JSON, type=pb.GetRequest.CONFIG)


def test_one_result_for_each_operation_in_order(router: Client) -> None:
    answer = router.set(
        delete=["/srv6/local-sids", VRF.format("nobody")],
        replace={VRF.format("red"): {"table-id": 101}},
        update={VRF.format("blue"): {"table-id": 102}, LENGTH: 20},
        prefix=pb.Path(target="pe1"),
    )
    assert [(r.op, shown(r.path)) for r in answer.response] == [
        (pb.UpdateResult.DELETE, "/srv6/local-sids"),
        (pb.UpdateResult.DELETE, VRF.format("nobody")),
        (pb.UpdateResult.REPLACE, VRF.format("red")),
        (pb.UpdateResult.UPDATE, VRF.format("blue")),
        (pb.UpdateResult.UPDATE, LENGTH),
    ]
    assert answer.prefix.target == "pe1"
    assert answer.timestamp
    assert router.get("/srv6/vrfs/vrf/table-id") == {
        VRF.format("red") + "/table-id": 101,
        VRF.format("blue") + "/table-id": 102,
    }
    # Replace took the interface away.
    assert "interface" not in router.value(VRF.format("red"), encoding=pb.JSON)


def test_deletes_come_first_whatever_the_paths(router: Client) -> None:
    router.set(delete=["/srv6"], update={VRF.format("red"): {"table-id": 7}})
    assert router.value("/srv6", encoding=pb.JSON) == {
        "unsupported": "refuse",
        "boundary": {"default-role": "customer"},
        "accounting": {"enabled": False, "drops": {"watch": "on-errors"}},
        "encapsulation": {"flow-label": "copy"},
        "vrfs": {"vrf": [{"name": "red", "table-id": 7}]},
    }


def test_the_same_path_twice_is_applied_in_order(router: Client) -> None:
    update = [pb.Update(path=path(LENGTH), val=ietf(v)) for v in (17, 18)]
    router.stub.Set(pb.SetRequest(update=update))
    assert router.value(LENGTH) == 18
    replace = [pb.Update(path=path(LENGTH), val=ietf(v)) for v in (19, 20)]
    router.stub.Set(pb.SetRequest(replace=replace))
    assert router.value(LENGTH) == 20


def test_replace_restores_defaults_and_update_does_not(router: Client) -> None:
    router.set(update={LENGTH: 20})
    router.set(update={"/srv6/locators/locator[name=main]": {"argument-length": 16}})
    assert router.value(LENGTH) == 20
    router.set(replace={"/srv6/locators/locator[name=main]": {"prefix": "fcbb:0:1::/48"}})
    assert router.value(LENGTH) == 16


def test_what_has_rpcs_alone_is_no_configuration(place: Path) -> None:
    connection = Connection(originator="test")
    with connection.context() as context:
        found = models.load(context, ["srv6mgr-*"])
    connection.close()
    assert "srv6mgr-operations" in [m.name for m in found.served]
    assert found.configurable == ("srv6mgr-srv6",)


def test_defaults_stay_defaults(gnmi: Client) -> None:
    """The first Set is written another way than those on top of much."""
    gnmi.set(update={"/srv6": SRV6})
    gnmi.set(update={NEW_SID: {"locator": "main", "behavior": "End"}})
    running = Running()
    sids = json.loads(running.read())["srv6mgr-srv6:srv6"]["local-sids"]["sid"]
    running.close()
    assert len(sids) == 2
    assert [sid for sid in sids if "counters" in sid] == []
    assert gnmi.value(f"{NEW_SID}/counters") is True


def test_delete_of_a_leaf_restores_its_default(router: Client) -> None:
    router.set(update={LENGTH: 20})
    router.set(delete=[LENGTH])
    assert router.value(LENGTH) == 16


def test_replace_of_a_list_removes_what_is_not_named(router: Client) -> None:
    router.set(update={VRF.format("blue"): {"table-id": 200}})
    router.set(delete=["/srv6/local-sids"])
    router.set(replace={"/srv6/vrfs/vrf": [{"name": "green", "table-id": 300}]})
    assert router.get("/srv6/vrfs/vrf/table-id") == {VRF.format("green") + "/table-id": 300}


def test_wildcards_and_partial_keys_delete(router: Client) -> None:
    router.set(update={VRF.format("blue"): {"table-id": 200, "interface": ["eth2"]}})
    router.set(delete=["/srv6/vrfs/vrf[name=*]/interface"])
    assert failing(router.raw_get, "/srv6/vrfs/vrf/interface")[0] is grpc.StatusCode.NOT_FOUND
    router.set(delete=["/srv6/local-sids/sid", "/srv6/vrfs/vrf"])
    assert router.get("/srv6/vrfs", type=pb.GetRequest.CONFIG) == {}


def test_one_entry_of_a_leaf_list_is_deleted(router: Client) -> None:
    where = VRF.format("red") + "/interface"
    router.set(replace={where: ["eth1", "eth2", "eth3"]})
    router.set(delete=[f"{where}[.=eth2]", f"{where}[.=nobody]"])
    assert router.value(where) == ["eth1", "eth3"]
    router.set(update={VRF.format("blue"): {"table-id": 200, "interface": ["eth4", "eth5"]}})
    router.set(delete=["/srv6/vrfs/vrf[name=*]/interface[.=eth4]"])
    assert router.value(VRF.format("blue") + "/interface") == ["eth5"]
    router.set(delete=[f"{where}[.=*]"])
    assert failing(router.raw_get, where)[0] is NOT_FOUND
    # For anything else it is one value.
    for rejected in (
        lambda: router.raw_get(f"{where}[.=eth1]"),
        lambda: router.set(update={f"{where}[.=eth1]": "eth1"}),
    ):
        code, text = failing(rejected)
        assert code is INVALID
        assert "a leaf-list is one value" in text
    code, text = failing(router.set, delete=[f"{LENGTH}[.=16]"])
    assert code is INVALID
    assert "is no leaf-list" in text


def test_subscribers_are_reported_what_is_left_of_a_leaf_list(router: Client) -> None:
    where = VRF.format("red") + "/interface"
    router.set(replace={where: ["eth1", "eth2"]})
    with router.subscribe(subscription(where)) as stream:
        assert stream.until_sync() == {where: ["eth1", "eth2"]}
        router.set(delete=[f"{where}[.=eth1]"])
        assert updates(stream.next().update) == {where: ["eth2"]}
        router.set(delete=[f"{where}[.=eth2]"])
        assert deletes(stream.next().update) == [where]


def test_an_update_adds_to_a_leaf_list_and_a_replace_does_not(router: Client) -> None:
    where = VRF.format("red") + "/interface"
    router.set(update={where: ["eth2"]})
    assert router.value(where) == ["eth1", "eth2"]
    router.set(replace={where: ["eth3"]})
    assert router.value(where) == ["eth3"]


def test_an_empty_set_is_no_error(router: Client) -> None:
    assert not router.set().response


def test_what_is_already_so_changes_nothing(router: Client, core: Core) -> None:
    core.changes.clear()
    router.set(update={"/srv6": SRV6})
    router.set(replace={"/srv6": SRV6})
    router.set(delete=[VRF.format("nobody")])
    assert core.changes == []


@pytest.mark.parametrize(
    ("where", "value", "got"),
    [
        (LENGTH, pb.TypedValue(uint_val=24), 24),
        (LENGTH, pb.TypedValue(int_val=24), 24),
        (LENGTH, pb.TypedValue(json_val=b"24"), 24),
        (LENGTH, pb.TypedValue(json_ietf_val=b" 24 "), 24),
        (LENGTH, pb.TypedValue(ascii_val="24"), 24),
        (
            VRF.format("red") + "/interface",
            pb.TypedValue(leaflist_val=pb.ScalarArray(element=[pb.TypedValue(string_val="eth9")])),
            ["eth9"],
        ),
        (
            "/srv6/encapsulation/source-address",
            pb.TypedValue(string_val="FCBB:0:1::1"),
            "fcbb:0:1::1",
        ),
    ],
)
def test_values_in_every_encoding(router: Client, where: str, value: object, got: object) -> None:
    router.set(replace={where: value})
    assert router.value(where) == got


def test_plain_json_finds_augmented_nodes(router: Client) -> None:
    bgp = {"rd": "65000:1", "import-rt": ["65000:1"], "export-rt": ["65000:1"]}
    value = {
        "bgp": {"as-number": 65000, "router-id": "192.0.2.1"},
        "vrfs": {"vrf": [{"name": "red", "bgp": bgp}]},
    }
    router.set(update={"/srv6": pb.TypedValue(json_val=str(value).replace("'", '"').encode())})
    assert router.value(VRF.format("red") + "/bgp/rd") == "65000:1"
    assert router.value(VRF.format("red") + "/bgp/redistribute/connected") is True


INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
NEW_SID = "/srv6/local-sids/sid[prefix=fcbb:0:1:65::/64]"


@pytest.mark.parametrize(
    ("where", "value", "rejection"),
    [
        (
            VRF.format("blue"),
            {"table-id": 100},
            (INVALID, "VRF blue: table 100 is already used by VRF red; choose another table-id"),
        ),
        (
            NEW_SID,
            {"locator": "main", "behavior": "End.DT46", "vrf": "green"},
            (
                INVALID,
                "SID fcbb:0:1:65::/64: VRF green does not exist; create it or name an existing VRF",
            ),
        ),
        (
            NEW_SID,
            {"locator": "nope", "behavior": "End"},
            (
                INVALID,
                "SID fcbb:0:1:65::/64: locator nope does not exist; create it or name an existing"
                " locator",
            ),
        ),
        (
            "/srv6/local-sids",
            {"sid": [{"prefix": "fcbb:0:1:zz::/64", "locator": "main", "behavior": "End"}]},
            (
                INVALID,
                "SID fcbb:0:1:zz::/64: prefix 'fcbb:0:1:zz::/64' is no IPv6 prefix; write it like"
                " fcbb:0:1:64::/64",
            ),
        ),
        (
            "/srv6/local-sids",
            {"sid": [{"prefix": "fcbb:0:1:66::/64", "locator": "main", "behavior": "End"}] * 2},
            (INVALID, "SID fcbb:0:1:66::/64: it is declared twice; declare it once"),
        ),
        (
            NEW_SID,
            {"locator": "main", "behavior": "End.DT46"},
            (INVALID, "SID fcbb:0:1:65::/64: End.DT4 and End.DT46 look up a VRF; add vrf"),
        ),
        (
            VRF.format("blue"),
            {"interface": ["eth5"]},
            (INVALID, "VRF blue: table-id is missing; add table-id"),
        ),
        (
            VRF.format("blue"),
            {"table-id": 254},
            (
                INVALID,
                "VRF blue: table 0 and 253 to 255 are the kernel's own (unspec, default, main,"
                " local); choose another table-id",
            ),
        ),
        (
            VRF.format("blue"),
            {"table-id": "x"},
            (INVALID, "VRF blue: table-id 'x' is no number"),
        ),
        (
            "/srv6",
            {"vrfs": {"vrf": [{"name": "blue", "table-id": 9, "colour": 1}]}},
            (
                NOT_FOUND,
                "VRF blue: /srv6mgr-srv6:srv6/vrfs/vrf[name='blue']/colour is unknown to the model",
            ),
        ),
        (
            "/srv6/nonsense",
            1,
            (NOT_FOUND, "path /srv6/nonsense: /srv6 has no node 'nonsense'"),
        ),
        (
            LENGTH,
            None,
            (INVALID, "the value is null"),
        ),
        (
            VRF.format("red"),
            {},
            (INVALID, "the value is empty"),
        ),
        (
            VRF.format("red"),
            {"name": "blue", "table-id": 5},
            (INVALID, "key name is blue"),
        ),
        (
            "/srv6/vrfs/vrf/table-id",
            5,
            (INVALID, "all keys given"),
        ),
        (
            VRF.format("red") + "/state/reason",
            "x",
            (INVALID, "read-only"),
        ),
        (
            LENGTH,
            pb.TypedValue(string_val="x"),
            (INVALID, "can't be string_val"),
        ),
        (
            LENGTH,
            pb.TypedValue(json_val=b"{"),
            (INVALID, "JSON"),
        ),
        (
            LENGTH,
            pb.TypedValue(),
            (INVALID, "there is no value"),
        ),
        (
            LENGTH,
            pb.TypedValue(proto_bytes=b"x"),
            (grpc.StatusCode.UNIMPLEMENTED, "encoding proto_bytes is unsupported"),
        ),
        (
            "/srv6/vrfs",
            pb.TypedValue(json_ietf_val=b'{"vrf":[]},"local-sids":{}'),
            (INVALID, "no single JSON value"),
        ),
    ],
)
@pytest.mark.parametrize("op", ["update", "replace"])
def test_rejections(
    router: Client, op: str, where: str, value: object, rejection: tuple[grpc.StatusCode, str]
) -> None:
    code, text = rejection
    before = config(router)
    found, said = failing(router.set, **{op: {where: value}})
    assert text in said
    assert found is code
    assert config(router) == before


def test_one_bad_operation_undoes_all(router: Client, core: Core) -> None:
    before = config(router)
    core.changes.clear()
    found, _ = failing(
        router.set,
        delete=["/srv6/local-sids"],
        update={LENGTH: 20, VRF.format("blue"): {"table-id": 100}},
    )
    assert found is INVALID
    assert config(router) == before
    assert core.changes == []


def test_a_value_that_is_not_utf8_spoils_nothing_after_it(router: Client) -> None:
    bad = pb.TypedValue(json_ietf_val=b'{"locator": [{"name": "a\xff"}]}')
    code, words = failing(router.stub.Set, pb.SetRequest(update=[pb.Update(
        path=path("/srv6/locators"), val=bad)]), metadata=router.metadata)  # fmt: skip
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "not UTF-8" in words
    router.set(update={VRF.format("red"): {"table-id": 101}})


def test_a_vrf_in_use_can_not_be_deleted(router: Client) -> None:
    code, text = failing(router.set, delete=[VRF.format("red")])
    assert code is INVALID
    assert text == f"SID {SID}: VRF red does not exist; create it or name an existing VRF"


def test_a_bad_name_among_good_ones_is_named(router: Client) -> None:
    names = [{"name": name, "table-id": n} for n, name in enumerate(["a", "b" * 16, "c"], 1)]
    for op in ("update", "replace"):
        code, text = failing(router.set, **{op: {"/srv6/vrfs": {"vrf": names}}})
        assert code is INVALID
        assert text == (
            f"VRF {'b' * 16}: a VRF name is a Linux device name: 1 to 15 characters; shorten it"
        )


def test_deleting_what_is_unknown_or_read_only_is_reported(router: Client) -> None:
    assert failing(router.set, delete=["/srv6/nonsense"])[0] is NOT_FOUND
    assert failing(router.set, delete=[VRF.format("red") + "/state"])[0] is INVALID
    assert failing(router.set, delete=[VRF.format("red") + "/name"])[0] is INVALID


def test_words_of_srv6mgrd_pass_unchanged(router: Client, core: Core) -> None:
    core.veto = f"SID {SID}: it overlaps SID fcbb:0:1::/48; give each SID a function of its own"
    before = config(router)
    code, text = failing(router.set, update={LENGTH: 20})
    assert text == core.veto
    assert code is INVALID
    assert config(router) == before
    core.veto = "VRF red: table 8986 holds the local SIDs; choose another table-id\n" + core.veto
    assert failing(router.set, replace={LENGTH: 20})[1] == core.veto


def test_union_replace_replaces_each_part_it_names(router: Client) -> None:
    router.set(update={VRF.format("blue"): {"table-id": 200}})
    parts = {"/srv6/vrfs": {"vrf": [{"name": "red", "table-id": 7}]}, LENGTH: 20}
    union = [pb.Update(path=path(p), val=ietf(v)) for p, v in parts.items()]
    answer = router.set(union_replace=union)
    assert [(r.op, shown(r.path)) for r in answer.response] == [
        (pb.UpdateResult.UNION_REPLACE, where) for where in parts
    ]
    assert router.get("/srv6/vrfs/vrf/table-id") == {VRF.format("red") + "/table-id": 7}
    assert router.value(LENGTH) == 20
    # What no part names stays: the paths of a native origin say what is replaced.
    assert router.value(f"/srv6/local-sids/sid[prefix={SID}]/vrf") == "red"
    before = config(router)
    bad = [pb.Update(path=path("/srv6/vrfs"), val=ietf({"vrf": []}))]
    assert failing(router.set, union_replace=bad)[0] is INVALID
    assert failing(router.set, union_replace=union, delete=["/srv6"])[0] is INVALID
    assert config(router) == before


def test_a_master_that_was_is_rejected(router: Client) -> None:
    def elected(low: int, role: str) -> dict[str, object]:
        given = ext.MasterArbitration(
            role=ext.Role(id=role), election_id=ext.Uint128(high=0, low=low)
        )
        return {"extension": [ext.Extension(master_arbitration=given)]}

    assert not router.set(**elected(5, "a")).response
    code, text = failing(router.set, update={LENGTH: 20}, **elected(4, "a"))
    assert code is grpc.StatusCode.PERMISSION_DENIED
    assert "with election_id 5" in text
    assert router.value(LENGTH) == 16
    for given in (elected(5, "a"), elected(1, "b"), {}):
        router.set(update={LENGTH: 20}, **given)
    nobody = ext.Extension(master_arbitration=ext.MasterArbitration(role=ext.Role(id="a")))
    assert failing(router.set, update={LENGTH: 21}, extension=[nobody])[0] is INVALID


def test_extensions_that_are_not_known_are_not_passed_over(router: Client) -> None:
    depth = ext.Extension(depth=ext.Depth(level=1))
    assert failing(router.set, update={LENGTH: 20}, extension=[depth])[0] is INVALID
    history = ext.Extension(history=ext.History(snapshot_time=1))
    code, text = failing(router.raw_get, LENGTH, extension=[history])
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "nothing of the past is kept here" in text
    assert router.value(LENGTH) == 16


def test_warnings_come_in_the_trailing_metadata(router: Client, core: Core) -> None:
    core.warned = ("boundary: eth1 can reach SIDs; set its role (1 %)", "é")
    request = pb.SetRequest(update=[pb.Update(path=path(LENGTH), val=ietf(20))])
    _, call = router.stub.Set.with_call(request)
    said = [unquote(v) for name, v in call.trailing_metadata() if name == "srv6mgr-warning"]
    assert said == list(core.warned)
    core.warned = ()
    _, call = router.stub.Set.with_call(request)
    assert not [name for name, _ in call.trailing_metadata() if name == "srv6mgr-warning"]
