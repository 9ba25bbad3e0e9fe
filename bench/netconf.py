"""NETCONF beside gNMI and sysrepo itself: edits of many SIDs, reads of their counters.

    make bench BENCH=netconf [PART="edit stages read stall"]

The share of the northbounds is measured: srv6mgrd does not take part, nor the kernel
(``bench.gnmi`` has the whole). sysrepo alone is the same edit by one session, from its text to the
acknowledgement: what no northbound can take away.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.gnmi_servers import ours
from bench.netconf_stages import measure_stages
from bench.report import Goal, Report, describe_machine
from bench.repository import place
from bench.sids import address, config
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.datastore.operational import OperationalSubscription
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

SERVER = "/opt/netconfd/srv6-netconfd"
PARTS = ("edit", "stages", "read", "stall")
SIDS, MANY = 10_000, 100_000
ROUNDS = 5
# Seconds from an edit-config of so many SIDs to its answer, on two CPUs.
EDIT_GOAL = 0.5
# ... from the get of one of MANY SIDs to its answer.
ONE_GOAL = 0.1
MODULE = "srv6mgr-srv6"
# As srv6-gnmid finds it, too.
STORE = "store"
BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
OURS = "urn:srv6mgr:yang:srv6mgr-srv6"
HELLO = (
    f'<hello xmlns="{BASE}"><capabilities><capability>urn:ietf:params:netconf:base:1.1'
    "</capability></capabilities></hello>]]>]]>"
)
TIMEOUT_MS = 600_000


class Client:
    """A session that sends what is ready made, and reads without looking at it."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(600)
        self._socket.connect(str(path))
        self._socket.sendall(HELLO.encode())
        self._read(b"]]>]]>")

    def timed(self, inside: str) -> tuple[float, bytes]:
        """Seconds until the answer to an RPC, and the answer."""
        rpc = f'<rpc xmlns="{BASE}" message-id="1">{inside}</rpc>'.encode()
        start = time.monotonic()
        self._socket.sendall(b"\n#%d\n%b\n##\n" % (len(rpc), rpc))
        answer = self._read(b"\n##\n")
        took = time.monotonic() - start
        if b"<rpc-error>" in answer:
            raise RuntimeError(answer[:2000].decode())
        return took, answer

    def _read(self, end: bytes) -> bytes:
        got = bytearray()
        while got[-len(end) :] != end:
            part = self._socket.recv(1 << 20)
            if not part:
                raise RuntimeError("the server ended the connection")
            got += part
        return bytes(got)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def netconf(folder: Path) -> Iterator[Path]:
    """srv6-netconfd; yields its socket."""
    path, notify = folder / "netconf.sock", folder / "netconf.notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(str(notify))
        ready.settimeout(60)
        environment = {**os.environ, "NOTIFY_SOCKET": str(notify)}
        argv = [
            SERVER, "--socket", path, "--tls-socket", folder / "netconf-tls.sock",
            "--store", folder / STORE,
        ]  # fmt: skip
        process = subprocess.Popen(argv, env=environment)
        try:
            ready.recv(100)
            yield path
        finally:
            process.terminate()
            process.wait(timeout=60)
            notify.unlink()


def as_xml(tree: dict[str, Any]) -> str:
    import sysrepo

    with sysrepo.SysrepoConnection() as connection, connection.get_ly_ctx() as context:
        data = context.parse_data_mem(json.dumps(tree), "json", parse_only=True, strict=True)
        assert data is not None
        xml: str = data.print_mem("xml", with_siblings=True, pretty=False)
        data.free()
    return xml


def edit(config_xml: str, more: str = "") -> str:
    target = "<target><running/></target>"
    return f"<edit-config>{target}{more}<config>{config_xml}</config></edit-config>"


DATA = (
    '<get-data xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-nmda" xmlns:ds="urn:ietf:params:xml'
    ':ns:yang:ietf-datastores"><datastore>ds:operational</datastore></get-data>'
)
REMOVE = edit(f'<srv6 xmlns="{OURS}" xmlns:nc="{BASE}" nc:operation="remove"/>')


def measure_edit(folder: Path) -> list[Goal]:
    tree = config(SIDS)
    xml, text = edit(as_xml(tree)), json.dumps(tree)
    runs: dict[str, list[float]] = {"netconf": [], "gnmi": [], "sysrepo": [], "get": []}
    with netconf(folder) as path, ours(folder) as server:
        client = Client(path)
        set_ = _gnmi(server.plain, tree)
        for _ in range(ROUNDS):
            runs["netconf"].append(client.timed(xml)[0])
            runs["get"].append(
                client.timed("<get-config><source><running/></source></get-config>")[0]
            )
            client.timed(REMOVE)
            runs["gnmi"].append(_timed(set_))
            client.timed(REMOVE)
            runs["sysrepo"].append(_alone(text))
            client.timed(REMOVE)
        client.close()
    size = f"{SIDS // 1000}k SIDs"
    return [
        Goal(f"edit-config of {size}", runs["netconf"], [], EDIT_GOAL, of="median"),
        Goal("the same, or a gNMI Set", runs["netconf"], runs["gnmi"], None, of="median"),
        Goal("the same, or sysrepo alone", runs["netconf"], runs["sysrepo"], None, of="median"),
        Goal(f"get-config of {size}", runs["get"], [], None, of="median"),
    ]


def _timed(call: Callable[[], object]) -> float:
    start = time.monotonic()
    call()
    return time.monotonic() - start


def _gnmi(target: str, tree: dict[str, Any]) -> Callable[[], object]:
    import grpc
    from gnmi_pb import gnmi_pb2 as pb
    from gnmi_pb import gnmi_pb2_grpc as stubs

    value = pb.TypedValue(json_ietf_val=json.dumps(tree).encode())
    request = pb.SetRequest(update=[pb.Update(path=pb.Path(), val=value)])
    stub = stubs.gNMIStub(grpc.insecure_channel(target))
    stub.Capabilities(pb.CapabilityRequest(), timeout=60)
    return lambda: stub.Set(request, timeout=600)


def _alone(text: str) -> float:
    """The same edit in one session of sysrepo."""
    import sysrepo

    with sysrepo.SysrepoConnection() as connection, connection.start_session("running") as session:
        start = time.monotonic()
        with connection.get_ly_ctx() as context:
            tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
            session.edit_batch_ly(tree)
            tree.free()
        session.apply_changes(timeout_ms=TIMEOUT_MS)
        return time.monotonic() - start


def _gnmi_get(target: str, prefix: str) -> Callable[[], object]:
    import grpc
    from gnmi_pb import gnmi_pb2 as pb
    from gnmi_pb import gnmi_pb2_grpc as stubs

    names = ("srv6", "local-sids", "sid", "state", "counters")
    path = pb.Path(elem=[pb.PathElem(name=name) for name in names])
    path.elem[2].key["prefix"] = prefix
    options = [("grpc.max_receive_message_length", -1)]
    stub = stubs.gNMIStub(grpc.insecure_channel(target, options=options))
    request = pb.GetRequest(path=[path], encoding=pb.JSON_IETF)
    return lambda: stub.Get(request, timeout=600)


@contextmanager
def _state(folder: Path, count: int) -> Iterator[None]:
    """Status and counters of SIDs 1 to ``count``, served as srv6mgrd does."""
    import sysrepo

    store = StoreWriter(folder / STORE)
    now = time.time_ns()
    installed = ObjectStatus(InstallStatus.INSTALLED, since=now)
    names = [address(number) for number in range(1, count + 1)]
    store.set_statuses({ObjectRef(Kind.SID, name): installed for name in names})
    store.set_counters({name: SidCounters(7, 700, 1, now) for name in names}, {}, now)
    operational = OperationalSubscription(folder / STORE)
    with sysrepo.SysrepoConnection() as connection:
        session = connection.start_session("running")
        session.subscribe_module_change_unsafe(MODULE, None, _reported, done_only=True)
        operational.start()
        try:
            yield
        finally:
            operational.close()
            session.stop()
            store.close()


def _reported(session: Any, event: str, req_id: int, private_data: Any) -> None:
    """Without somebody who hears of changes sysrepo shows no configuration as operational."""


def _get(xpath: str) -> str:
    return f'<get><filter type="xpath" xmlns:s="{OURS}" select="{xpath}"/></get>'


def measure_read(folder: Path) -> list[Goal]:
    """Beside NETCONF are gNMI, and a client of sysrepo and so of srv6mgrd."""
    counters = "/s:srv6/s:local-sids/s:sid{}/s:state/s:counters"
    name = address(MANY // 2)
    asked = {"all": "", "one": f"[s:prefix='{name}']"}
    runs: dict[str, list[float]] = {
        f"{northbound} {what}": []
        for northbound in ("netconf", "gnmi", "sysrepo")
        for what in asked
    }
    with netconf(folder) as path:
        client = Client(path)
        client.timed(edit(as_xml(config(MANY))))
        with _state(folder, MANY), ours(folder) as server:
            gets = {"all": _gnmi_get(server.plain, "*"), "one": _gnmi_get(server.plain, name)}
            for number in range(ROUNDS):
                for what, key in asked.items():
                    took, answer = client.timed(_get(counters.format(key)))
                    runs[f"netconf {what}"].append(took)
                    counted, meant = answer.count(b"<in-pkts>7</in-pkts>"), MANY if not key else 1
                    if counted != meant:
                        raise RuntimeError(f"counters of {counted} SIDs came, not of {meant}")
                    runs[f"gnmi {what}"].append(_timed(gets[what]))
                    if number == 0:
                        runs[f"sysrepo {what}"].append(_timed(_from_sysrepo(counters.format(key))))
            whole, data = ([_everything(client, rpc) for _ in range(3)] for rpc in ("<get/>", DATA))
            whole_of_sysrepo = [_timed(_from_sysrepo("/*"))]
        client.timed(REMOVE)
        client.close()
    size = f"{MANY // 1000}k SIDs"
    return [
        Goal(f"get without a filter, {size}", whole, [], None, of="most"),
        Goal("the same, or sysrepo alone", whole, whole_of_sysrepo, None, of="median"),
        Goal("the same by get-data, or sysrepo alone", data, whole_of_sysrepo, None, of="median"),
        Goal("get of the counters of one of " + size, runs["netconf one"], [], ONE_GOAL, of="most"),
        *(
            Goal(
                f"get of the counters of {label}{size}, or {peer}",
                runs[f"netconf {what}"], runs[f"{northbound} {what}"], None, of="median",
            )
            for what, label in (("one", "one of "), ("all", ""))
            for northbound, peer in (("gnmi", "a gNMI Get"), ("sysrepo", "sysrepo alone"))
        ),
    ]  # fmt: skip


def _everything(client: Client, rpc: str) -> float:
    """Seconds of a read without a filter: configuration, and state of all there is."""
    took, answer = client.timed(rpc)
    if answer.count(b"<in-pkts>7</in-pkts>") != MANY or answer.count(b"<behavior") != MANY:
        raise RuntimeError("the answer lacks SIDs")
    return took


def _from_sysrepo(xpath: str) -> Callable[[], object]:
    """What ``sysrepocfg -X -d operational`` does, but for the printing."""
    import sysrepo

    def ask() -> None:
        with sysrepo.SysrepoConnection() as connection:
            session = connection.start_session("operational")
            with session.get_data_ly(path, timeout_ms=TIMEOUT_MS):
                pass

    path = xpath.replace("/s:srv6", f"/{MODULE}:srv6").replace("s:", f"{MODULE}:")
    return ask


def measure_stall(folder: Path) -> list[Goal]:
    """What other sessions wait while one edits many."""
    xml = edit(as_xml(config(MANY)))
    waits: dict[str, list[float]] = {"configuration": [], "state": []}
    asked = {
        "configuration": "<get-config><source><running/></source><filter type='xpath' xmlns:s="
        f"'{OURS}' select='/s:srv6/s:vrfs'/></get-config>",
        "state": "<get><filter type='xpath' xmlns:m='urn:ietf:params:xml:ns:yang:"
        "ietf-netconf-monitoring' select='/m:netconf-state/m:statistics'/></get>",
    }
    whole: list[float] = []
    with netconf(folder) as path:
        writer = Client(path)
        editing = threading.Thread(target=lambda: whole.append(writer.timed(xml)[0]))
        readers = {name: Client(path) for name in asked}

        def read(name: str) -> None:
            while editing.is_alive():
                waits[name].append(readers[name].timed(asked[name])[0])
                time.sleep(0.02)

        threads = [threading.Thread(target=read, args=[name]) for name in asked]
        editing.start()
        for thread in threads:
            thread.start()
        for thread in (editing, *threads):
            thread.join()
        writer.timed(REMOVE)
    return [
        Goal(f"edit-config of {MANY // 1000}k SIDs", whole, [], None),
        Goal("longest wait of a get of state meanwhile", waits["state"], [], None, of="most"),
        Goal("longest wait of a get-config meanwhile", waits["configuration"], [], None, of="most"),
        Goal(
            "median wait of a get-config meanwhile", waits["configuration"], [], None, of="median"
        ),
    ]


def main() -> int:
    asked = sys.argv[1:] or PARTS
    measure = {
        "edit": measure_edit,
        "stages": lambda folder: measure_stages(folder, config(SIDS), f"{SIDS // 1000}k SIDs"),
        "read": measure_read,
        "stall": measure_stall,
    }
    report = Report("netconf", machine=describe_machine())
    with place() as folder:
        for part in asked:
            report.goals += measure[part](folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
