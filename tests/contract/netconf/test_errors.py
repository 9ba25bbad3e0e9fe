"""Errors: tag, path, app-tag and words (RFC 6241 appendix A, RFC 7950 section 15)."""

from __future__ import annotations

import re

import pytest

from srv6mgrd.model.rejection import Rejection
from tests.contract.netconf.client import Client, rejected, texts, with_namespaces
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import OTHER, ROUTER, sid, srv6, vrf
from tests.contract.netconf.wire import BASE, Wire
from tests.contract.rejections import MISTAKES, Mistake, judge

RED = "/srv6/vrfs/vrf[name='red']"
OF_OTHER = f"/srv6/local-sids/sid[prefix='{OTHER}']"


@pytest.mark.parametrize(
    ("edit", "tags", "path", "words"),
    [
        (vrf(table="x"), "invalid-value value-syntax", f"{RED}/table-id",
         "VRF red: table-id 'x' is no number; write a number"),
        (vrf(table="99999999999"), "invalid-value value-range", f"{RED}/table-id",
         "VRF red: table-id 99999999999 is out of range"),
        (sid(OTHER, "End.NO"), "invalid-value value-unknown", f"{OF_OTHER}/behavior",
         f"SID {OTHER}: behavior 's:End.NO' is unknown"),
        (sid("fcbb::/xx"), "invalid-value value-syntax", "/srv6/local-sids/sid/prefix",
         "SID fcbb::/xx: prefix 'fcbb::/xx' is no IPv6 prefix"),
        ("<s:nothing/>", "unknown-element unknown-element", "/srv6",
         "SRv6: /srv6mgr-srv6:srv6/nothing is unknown to the model"),
        ("<x:y xmlns:x='urn:x'/>", "unknown-namespace", "/srv6",
         "SRv6: namespace urn:x is unknown"),
        (vrf("blue", table=""), "missing-element missing", "/srv6/vrfs/vrf[name='blue']",
         "VRF blue: table-id is missing; add table-id"),
        ("<s:vrfs><s:vrf><s:table-id>7</s:table-id></s:vrf></s:vrfs>", "missing-element missing",
         "/srv6/vrfs/vrf", "VRF: its key name is missing"),
        (vrf("blue", "100"), "operation-failed table-in-use", "/srv6/vrfs/vrf[name='blue']",
         "VRF blue: table 100 is already used by VRF red"),
        (vrf(more="<s:state/>"), "bad-element read-only", f"{RED}/state",
         "VRF red: state is read-only"),
        (sid(OTHER, "End.DT46"), "operation-failed sid-vrf-missing", OF_OTHER,
         f"SID {OTHER}: End.DT4 and End.DT46 look up a VRF; add vrf"),
        (sid(OTHER, "End.DT46", more="<s:vrf>green</s:vrf>"), "data-missing instance-required",
         f"{OF_OTHER}/vrf", f"SID {OTHER}: VRF green does not exist"),
    ],
)  # fmt: skip
def test_edits(client: Client, edit: str, tags: str, path: str, words: str) -> None:
    client.edit(ROUTER)
    tag, _, app_tag = tags.partition(" ")
    rejected(lambda: client.edit(srv6(edit)), tag, f"^{words}", app_tag=app_tag, path=path)
    assert client.texts("//s:vrf/s:name") == ["red"]


@pytest.mark.parametrize(
    ("rpc", "tag", "words"),
    [
        ("<nc:nothing/>", "unknown-element|operation-not-supported", "nothing"),
        ("<x xmlns='urn:x'/>", "unknown-namespace", "urn:x"),
        ("<nc:get-config/>", "data-missing", "config-source"),
        ("<nc:get-config><nc:source/></nc:get-config>", "data-missing", "config-source"),
        ("<nc:kill-session/>", "missing-element", "session-id"),
        ("<nc:kill-session><nc:session-id>x</nc:session-id></nc:kill-session>", "invalid-value",
         "kill-session: session-id 'x' is not allowed"),
        ("<nc:get><nc:filter type='xpath'/></nc:get>", "missing-attribute", "select is missing"),
        ("<nc:get><nc:filter type='xpath' select='/s:srv6['/></nc:get>", "invalid-value",
         "XPath expression is not understood"),
        ("<nc:lock><nc:target><nc:running/></nc:target><nc:more/></nc:lock>", "unknown-element",
         "more"),
        ("<nc:edit-config><nc:target><nc:running/></nc:target></nc:edit-config>",
         "data-missing", "edit-content is missing"),
    ],
)  # fmt: skip
def test_rpcs(server: Server, rpc: str, tag: str, words: str) -> None:
    with Wire(server.socket) as wire:
        error = wire.call(with_namespaces(rpc))
        assert texts(error, "//nc:error-tag")[0] in tag.split("|"), texts(error, "//*")
        assert words in texts(error, "//nc:error-message")[0]
        assert texts(error, "//nc:error-severity")[0] == "error"
        # The session goes on.
        assert texts(wire.call("<discard-changes/>"), "//nc:ok") == ["ok"]


def test_an_rpc_without_number(server: Server) -> None:
    with Wire(server.socket) as wire:
        error = wire.ask(f'<rpc xmlns="{BASE}"><get/></rpc>')
        assert texts(error, "//nc:error-tag") == ["missing-attribute"]
        assert texts(error, "//nc:bad-attribute") == ["message-id"]
        assert texts(error, "//nc:bad-element") == ["rpc"]


def test_information_about_the_offender(server: Server) -> None:
    def info(inside: str, element: str) -> list[str]:
        config = with_namespaces(srv6(inside))
        target = "<target><running/></target>"
        reply = wire.call(f"<edit-config>{target}<config>{config}</config></edit-config>")
        return texts(reply, f"//nc:error-info/nc:{element}")

    with Wire(server.socket) as wire:
        assert info("<s:nothing/>", "bad-element") == ["nothing"]
        assert info(vrf(table=""), "bad-element") == ["table-id"]
        assert info("<x:y xmlns:x='urn:x'/>", "bad-namespace") == ["urn:x"]


def test_prefixes_of_the_path_are_declared(server: Server) -> None:
    config = with_namespaces(srv6(vrf(table="x")))
    with Wire(server.socket) as wire:
        target = "<target><running/></target>"
        reply = wire.call(f"<edit-config>{target}<config>{config}</config></edit-config>")
    (path,) = reply.xpath("//*[local-name()='error-path']")
    prefixes = {step.split(":")[0].split("[")[-1] for step in path.text.split("/")[1:]}
    assert prefixes <= set(path.nsmap) - {None}


def test_words_of_srv6mgrd_pass_unchanged(client: Client, router: Router) -> None:
    rejection = Rejection(f"SID {OTHER}", "outside locator main", "choose another prefix", "x")
    router.loop.world.manager.change_rejection = rejection
    rejected(lambda: client.edit(ROUTER), "operation-failed", f"^{rejection}$")
    assert client.texts("//s:srv6/*") == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_tag_and_path_are_those_of_gnmi(client: Client, router: Router, mistake: Mistake) -> None:
    """See ``gnmi/test_rejections.py``."""
    client.edit(ROUTER)
    router.loop.world.manager.judge = judge
    path = re.sub(r"(?<=/)[\w-]+:", "", mistake.path)
    error = rejected(
        lambda: client.edit(mistake.xml()),
        "operation-failed|missing-element|data-missing",
        f"^{re.escape(mistake.message)}$",
        app_tag=mistake.app_tag,
        path=path,
    )
    info = "" if error.info is None else str(error.info)
    assert (f">{mistake.element}</" in info) if mistake.element else ("bad-element" not in info)


def test_mistakes_in_many_entries_are_reported_briefly(server: Server) -> None:
    many = "".join(
        f"<s:sid><s:prefix>fcbb:0:1:{n:x}::/64</s:prefix><s:locator>no</s:locator>"
        "<s:behavior>s:End</s:behavior></s:sid>"
        for n in range(1, 200)
    )
    config = with_namespaces(srv6(f"<s:local-sids>{many}</s:local-sids>"))
    with Wire(server.socket) as wire:
        target = "<target><running/></target>"
        reply = wire.call(f"<edit-config>{target}<config>{config}</config></edit-config>")
    assert len(texts(reply, "//nc:rpc-error")) == 20
