"""gNMI and NETCONF reject a configuration with the same words, error-app-tag and path.

Both daemons run beside the same commit coordinator. What is sent are the invalid instances of
``yang/instances``, which have each message of the modules, and the mistakes that srv6mgrd itself
finds (``own_mistakes``); ``tests/unit/checks/test_error_catalogue.py`` finds a tag without a case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest

from srv6mgrd.model.rejection import Rejection
from tests.contract.as_xml import as_xml, namespaces
from tests.contract.gnmi.client import Client as Gnmi
from tests.contract.gnmi.conftest import Server as Gnmid
from tests.contract.gnmi.rich_status import violations
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.wire import Wire
from tests.contract.own_mistakes import PROVOKED, UNPROVOKED
from tests.contract.rejections import document, judge

INSTANCES = Path("yang/instances/invalid")
EXPECTED: Mapping[str, Mapping[str, str]] = json.loads((INSTANCES / "expected.json").read_text())
NC = {"nc": "urn:ietf:params:xml:ns:netconf:base:1.0"}
ROOT = "/srv6mgr-srv6:srv6"

# What only one of the two encodings can say.
OF_JSON = {
    name
    for name, expected in EXPECTED.items()
    # A boolean in quotes, which XML has none of; an entry twice, which an edit merges.
    if "'true' is no boolean" in expected["cause"] or expected["tag"] == "data-exists"
}
# A module by its name; XML has namespaces.
OF_JSON.add("unknown-module")

# Path, message and error-app-tag.
Error = tuple[str, str, str]


@pytest.fixture(scope="module")
def gnmi(place: Path, whole_router: Router) -> Iterator[Gnmi]:
    """A client of srv6-gnmid beside the same srv6mgrd."""
    gnmid = Gnmid(place, "gnmid", "")
    client = Gnmi(f"unix:{gnmid.socket}")
    yield client
    client.close()
    assert gnmid.stop() == 0, gnmid.log.read_text()


@pytest.fixture(scope="module")
def wire(server: Server) -> Iterator[Wire]:
    with Wire(server.socket) as wire:
        yield wire


@pytest.fixture(autouse=True)
def judged(router: Router) -> None:
    router.loop.world.manager.judge = judge


def by_gnmi(client: Gnmi, config: Mapping[str, Any]) -> list[Error]:
    """The errors of a Set; none: it was accepted."""
    try:
        client.set(update={"/": config})
    except grpc.RpcError as error:
        return violations(error)
    return []


def by_netconf(wire: Wire, config: Mapping[str, Any]) -> list[Error]:
    """The errors of an edit; none: it was accepted."""
    inside = f"<target><running/></target><config>{as_xml(config)}</config>"
    reply = wire.call(f"<edit-config>{inside}</edit-config>")

    def text(error: Any, name: str) -> str:
        found = error.find(f"nc:{name}", NC)
        return "" if found is None else found.text

    found = []
    for error in reply.iterfind("nc:rpc-error", NC):
        path, app_tag = data_path(error), text(error, "error-app-tag")
        if app_tag == "unknown-element":
            # No path leads to what the model has not: error-info has its name.
            path += "/" + text(error, "error-info/nc:bad-element")
        found.append((path, text(error, "error-message"), app_tag))
    return found


def data_path(error: Any) -> str:
    """error-path as RFC 7951 writes it: the module where it is another than that of the parent."""
    found = error.find("nc:error-path", NC)
    if found is None:
        return ""
    modules = {uri: module for module, uri in namespaces().items()}
    names = {prefix: modules.get(uri, prefix) for prefix, uri in found.nsmap.items()}
    path, above = "", ""
    for step in re.findall(r"/((?:[^/\[]|\[[^]]*\])+)", found.text):
        prefix, _, name = step.partition("[")[0].rpartition(":")
        module = names.get(prefix or None, prefix)
        keys = re.sub(r"\[[\w-]+:", "[", step.removeprefix(step.partition("[")[0]))
        path += f"/{name}{keys}" if module == above else f"/{module}:{name}{keys}"
        above = module
    return path


@pytest.mark.parametrize("name", EXPECTED)
def test_what_the_model_rejects(gnmi: Gnmi, wire: Wire, name: str) -> None:
    config = json.loads((INSTANCES / f"{name}.json").read_text())
    found = by_gnmi(gnmi, config)
    assert found
    if name not in OF_JSON:
        assert by_netconf(wire, config) == found


@pytest.mark.parametrize("tag", PROVOKED)
def test_what_srv6mgrd_rejects(gnmi: Gnmi, wire: Wire, tag: str) -> None:
    config = json.loads(document(PROVOKED[tag]))
    found = by_gnmi(gnmi, config)
    assert {error[2] for error in found} == {tag}
    assert by_netconf(wire, config) == found


@pytest.mark.parametrize("tag", UNPROVOKED)
def test_what_happens_while_a_change_is_carried_out(
    gnmi: Gnmi, wire: Wire, router: Router, tag: str
) -> None:
    """It passes both unchanged, whatever it is about."""
    path = f"{ROOT}/vrfs/vrf[name='red']"
    rejection = Rejection("VRF red", "the device is another's", "rename the VRF", tag, path)
    router.loop.world.manager.change_rejection = rejection
    config = json.loads(document({}))
    assert by_gnmi(gnmi, config) == [(path, str(rejection), tag)]
    assert by_netconf(wire, config) == [(path, str(rejection), tag)]
