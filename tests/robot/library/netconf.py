"""NETCONF from one node to another, over SSH with a key."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from lxml import etree
from robot.api.deco import library

from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.network import node, router

KEY = "/tmp/netconf-key"
SERVICES = ("srv6-netconfd", "sshd")
ADDRESSES = {"pe1": "2001:db8::1", "pe2": "2001:db8::2"}
CONFIGURATIONS = Path("/src/examples/l3vpn")
_PYTHON = "/opt/srv6mgr/bin/python"
_CLIENT = "tests.robot.library.netconf_client"
_NS = {"s": "urn:srv6mgr:yang:srv6mgr-srv6", "o": "urn:srv6mgr:yang:srv6mgr-operations"}
_SID = (
    '<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><srv6 xmlns="{}"><local-sids><sid>'
    "<prefix>{}</prefix><locator>MAIN</locator><behavior>End</behavior>"
    "</sid></local-sids></srv6></config>"
)


class NetconfError(Exception):
    """What a server rejected: its error-tag, and its words."""

    def __init__(self, tag: str, message: str) -> None:
        super().__init__(f"{tag}: {message}")
        self.tag = tag


class Session:
    """An ncclient on a node that stays connected."""

    def __init__(self, on: Node, host: str, key: str = KEY) -> None:
        self.process = on.popen(
            [_PYTHON, "-m", _CLIENT, host, key],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def call(self, method: str, **arguments: Any) -> str:
        """The reply. Raises NetconfError."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{json.dumps({'method': method, 'arguments': arguments})}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise NetconfError("closed", f"the client ended with status {process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise NetconfError(**answer["error"])
        text: str = answer["answer"]
        return text

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def as_xml(tree: str) -> str:
    """A configuration in the model's JSON as the XML that edit-config takes."""
    import libyang

    with libyang.Context("/src/yang:/usr/share/yang/modules/sysrepo:/opt/yang") as context:
        for line in Path("/src/yang/install.txt").read_text().splitlines():
            if line.startswith("srv6mgr-"):
                context.load_module(line.split()[0].removesuffix(".yang"))
        data = context.parse_data_mem(tree, "json", strict=True, no_state=True, parse_only=True)
        assert data is not None
        xml: str = data.print_mem("xml", with_siblings=True)
        data.free()
    return f'<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">{xml}</config>'


@library(scope="GLOBAL", auto_keywords=True)
class Netconf:
    """Sessions from node p to the provider edges, by name of the edge."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def start_netconf(self, *names: str) -> None:
        """Start the server and its sshd; p's key may log in."""
        on = node("p")
        on.run(["sh", "-c", f"[ -e {KEY} ] || ssh-keygen -q -t ed25519 -N '' -f {KEY}"])
        public = on.read_file(f"{KEY}.pub")
        for name in names:
            node(name).write_file("/root/.ssh/authorized_keys", public)
            node(name).run(["chmod", "-R", "go-rwx", "/root/.ssh"])
            for service in SERVICES:
                if not router(name).is_running(service):
                    router(name).start(service)

    def netconf(self, name: str, method: str, **arguments: Any) -> str:
        """One operation, as ncclient names it."""
        if name not in self._sessions:
            self._sessions[name] = Session(node("p"), ADDRESSES[name])
        return self._sessions[name].call(method, **arguments)

    def end_netconf(self, *names: str) -> None:
        """End clients without a word."""
        for name in names or tuple(self._sessions):
            if session := self._sessions.pop(name, None):
                session.end()

    def stop_netconf(self, *names: str) -> None:
        """End clients and servers: a router without them is what other suites expect."""
        self.end_netconf()
        for name in names:
            for service in reversed(SERVICES):
                if router(name).is_running(service):
                    router(name).stop(service)

    def configure_over_netconf(self, name: str) -> None:
        """The example's configuration, through a locked candidate."""
        config = as_xml((CONFIGURATIONS / f"{name}.json").read_text())
        self.netconf(name, "lock", target="candidate")
        self.netconf(name, "edit_config", config=config, target="candidate")
        self.netconf(name, "validate", source="candidate")
        self.netconf(name, "commit")
        self.netconf(name, "unlock", target="candidate")

    def edit_sid(self, name: str, prefix: str, target: str = "candidate") -> None:
        """One more SID End."""
        self.netconf(name, "edit_config", config=_SID.format(_NS["s"], prefix), target=target)

    def netconf_is_rejected(
        self, name: str, tag: str, words: str, method: str, **given: Any
    ) -> None:
        try:
            self.netconf(name, method, **given)
        except NetconfError as reported:
            if reported.tag == tag and words in str(reported):
                return
            raise
        raise AssertionError(f"{method} was not refused")

    def sid_edit_is_rejected(self, name: str, tag: str, words: str, prefix: str) -> None:
        config = _SID.format(_NS["s"], prefix)
        self.netconf_is_rejected(name, tag, words, "edit_config", config=config, target="running")

    def netconf_tells(self, name: str, words: str, timeout: float = 30) -> None:
        """Wait until ``get`` has these words in what it reports of the VRFs."""
        xml = (
            '<get xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><filter type="subtree">'
            f'<srv6 xmlns="{_NS["s"]}"><vrfs/></srv6></filter></get>'
        )
        what = f"{name}: {words} over NETCONF"
        wait_until(lambda: words in self.netconf(name, "dispatch", xml=xml), what, timeout)

    def packets_by_netconf(self, name: str, prefix: str) -> int:
        """What a SID counted by ``get``."""
        xpath = f"/s:srv6/s:local-sids/s:sid[s:prefix='{prefix}']/s:state"
        declared = " ".join(f'xmlns:{p}="{uri}"' for p, uri in _NS.items())
        xml = (
            '<get xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><filter type="xpath"'
            f' {declared} select="{xpath}"/></get>'
        )
        reply = etree.fromstring(self.netconf(name, "dispatch", xml=xml).encode())
        found = reply.xpath("//*[local-name()='in-pkts']")
        return int(found[0].text)

    def login_is_rejected(self, name: str) -> str:
        """With a key that nobody authorised."""
        stranger = "/tmp/netconf-stranger"
        node("p").run(
            ["sh", "-c", f"rm -f {stranger}*; ssh-keygen -q -t ed25519 -N '' -f {stranger}"]
        )
        session = Session(node("p"), ADDRESSES[name], stranger)
        try:
            session.call("get_config", source="running")
        except NetconfError as reported:
            if re.match("Auth|SSH", reported.tag):
                return str(reported)
            raise
        finally:
            session.end()
        raise AssertionError("whoever has any key may log in")
