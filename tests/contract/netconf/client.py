"""ncclient on the server's socket, and what tests say with it."""

from __future__ import annotations

import os
import pwd
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from ncclient import manager
from ncclient.operations.rpc import RPCError
from ncclient.transport import session
from ncclient.xml_ import to_ele

# It looks this often whether there is something to send; its 0.1 s would be most of our time.
session.TICK = 0.02

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
NS = {
    "nc": BASE,
    "s": "urn:srv6mgr:yang:srv6mgr-srv6",
    "o": "urn:srv6mgr:yang:srv6mgr-operations",
    "bgp": "urn:srv6mgr:yang:srv6mgr-bgp",
    "m": "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring",
    "nmda": "urn:ietf:params:xml:ns:yang:ietf-netconf-nmda",
    "lib": "urn:ietf:params:xml:ns:yang:ietf-yang-library",
    "n": "urn:ietf:params:xml:ns:netconf:notification:1.0",
    "ev": "urn:ietf:params:xml:ns:yang:ietf-netconf-notifications",
    "sn": "urn:ietf:params:xml:ns:yang:ietf-subscribed-notifications",
    "yp": "urn:ietf:params:xml:ns:yang:ietf-yang-push",
    "ds": "urn:ietf:params:xml:ns:yang:ietf-datastores",
    "or": "urn:ietf:params:xml:ns:yang:ietf-origin",
    "wd": "urn:ietf:params:xml:ns:yang:ietf-netconf-with-defaults",
    "mod": "urn:ietf:params:xml:ns:netmod:notification",
    "al": "urn:ietf:params:xml:ns:yang:ietf-alarms",
    "ncn": "urn:ietf:params:xml:ns:netconf:notification:1.0",
    "acm": "urn:ietf:params:xml:ns:yang:ietf-netconf-acm",
}


@contextmanager
def acting_as(user: str | None) -> Iterator[None]:
    """What is connected meanwhile is that user's; the kernel says who it was (SO_PEERCRED)."""
    if user is None:
        yield
        return
    os.seteuid(pwd.getpwnam(user).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


class Client:
    """A session. XML is given and taken with the prefixes of ``NS``."""

    def __init__(self, socket: Path, user: str | None = None, base: str = "1.1") -> None:
        capabilities = [f"urn:ietf:params:netconf:base:{base}"]
        with acting_as(user):
            self.manager = manager.connect_uds(
                path=str(socket), timeout=30, nc_params={"capabilities": capabilities}
            )

    @property
    def id(self) -> str:
        return str(self.manager.session_id)

    def rpc(self, xml: str) -> Any:
        """The reply to what is in ``<rpc>``. Raises RPCError."""
        return etree.fromstring(str(self.manager.dispatch(to_ele(with_namespaces(xml)))).encode())

    def edit(self, config: str, target: str = "running", **options: str) -> Any:
        options = {name: value for name, value in options.items() if value}
        whole = f'<nc:config xmlns:nc="{BASE}">{with_namespaces(config)}</nc:config>'
        return self.manager.edit_config(whole, target=target, **options)

    def config(self, source: str = "running", filter_: Any = None, **options: Any) -> Any:
        return self.manager.get_config(source, filter=filter_, **options).data_ele

    def texts(self, xpath: str, source: str = "running") -> list[str]:
        """Texts in a configuration."""
        return texts(self.config(source), xpath)

    def event(self, seconds: float = 10) -> Any:
        """The next notification."""
        taken = self.manager.take_notification(timeout=seconds)
        assert taken is not None, "no notification came"
        return etree.fromstring(taken.notification_xml.encode())

    def event_with(self, xpath: str, seconds: float = 10) -> Any:
        """The next notification that has this."""
        end = time.monotonic() + seconds
        while not texts(event := self.event(end - time.monotonic()), xpath):
            assert time.monotonic() < end, f"no notification with {xpath}"
        return event

    def quiet(self, seconds: float = 0.4) -> bool:
        """Nothing is reported for so long."""
        return self.manager.take_notification(timeout=seconds) is None

    def leave(self) -> None:
        """End without a word."""
        self.manager._session.close()

    def close(self) -> None:
        if self.manager.connected:
            self.manager.close_session()


def with_namespaces(xml: str) -> str:
    """The elements at the top with all prefixes declared."""
    declared = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NS.items())
    whole = etree.fromstring(f"<top{declared}>{xml}</top>")
    return "".join(etree.tostring(child, encoding="unicode") for child in whole)


def texts(tree: Any, xpath: str) -> list[str]:
    """Texts of what ``xpath`` finds; names of elements that have none."""
    found = tree.xpath(xpath, namespaces=NS)
    return [
        item if isinstance(item, str) else item.text or etree.QName(item).localname
        for item in (found if isinstance(found, list) else [str(found)])
    ]


def rejected(
    call: Callable[[], Any], tag: str, words: str = "", *, app_tag: str = "", path: str = ""
) -> Any:
    """``call()`` is rejected like this; ``words`` is a regular expression."""
    with pytest.raises(RPCError) as raised:
        call()
    error: Any = raised.value
    error = error.errlist[0] if getattr(error, "errlist", None) else error
    reported = f"{error.tag} {error.app_tag} {error.path}: {error.message}"
    assert error.tag in tag.split("|"), reported
    assert re.search(words, error.message or ""), reported
    # Object, cause, remedy, as everywhere.
    assert re.match(r".+: .+; .+", error.message or ""), reported
    if app_tag:
        assert error.app_tag == app_tag, reported
    if path:
        assert re.sub(r"(?<=[/\[])[\w-]+:", "", error.path or "") == path, reported
    return error
