"""Nodes of a topology: bring them up, run programs on them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

from lab import topology
from lab.guest import namespaces
from lab.problem import LabError
from lab.waiting import wait_until

STATE = Path("/lab/run/nodes")
INIT = Path(__file__).with_name("node-init.sh")
FRESH_INIT = Path(__file__).with_name("fresh-init.sh")
NAMESPACES = namespaces.MOUNT | namespaces.NET | namespaces.UTS


class Node:
    """A node that is up."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = STATE / name
        try:
            self.pid = int((self.state / "pid").read_text())
        except FileNotFoundError:
            there = ", ".join(names()) or "none"
            raise LabError(f"node {name}", "is not up", f"nodes are: {there}") from None

    @property
    def is_fresh(self) -> bool:
        """Whether the node boots a fresh Debian with systemd, instead of sharing the lab's root."""
        return (self.state / "fresh").exists()

    def path(self, path: str) -> Path:
        """A path of the node as this process reaches it."""
        return Path(f"/proc/{self.pid}/root") / path.lstrip("/")

    def write_file(self, path: str, text: str, mode: int = 0o644) -> None:
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def read_file(self, path: str) -> str:
        return self.path(path).read_text()

    def run(
        self,
        argv: Sequence[str],
        *,
        check: bool = True,
        timeout: float | None = 60.0,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the node to its end; with `check` a failure raises."""
        child = self.popen(
            argv, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True,
        )  # fmt: skip
        try:
            out, err = child.communicate(input, timeout)
        except BaseException:
            child.kill()
            child.communicate()
            raise
        if check and child.returncode:
            reported = (err.strip() or out.strip() or "no message").splitlines()[-1]
            command = " ".join(argv)
            raise LabError(f"{self.name}: {command}", f"status {child.returncode}: {reported}")
        return subprocess.CompletedProcess(list(argv), child.returncode, out, err)

    def json(self, argv: Sequence[str]) -> Any:
        """The JSON that a command such as `ip -j route` prints."""
        return json.loads(self.run(argv).stdout or "[]")

    def popen(
        self,
        argv: Sequence[str],
        *,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str = "/src",
        text: bool = False,
        new_session: bool = False,
    ) -> subprocess.Popen[Any]:
        """Start a command on the node. The child is a direct one: its pid can be signalled."""
        environment = {**os.environ, "LAB_NODE": self.name, "HOSTNAME": self.name, **(env or {})}
        start = partial(
            subprocess.Popen, argv, stdin=stdin, stdout=stdout, stderr=stderr, env=environment,
            text=text, cwd=cwd, start_new_session=new_session,
        )  # fmt: skip
        return _thread_in(self.pid).submit(start).result()


@cache
def _thread_in(pid: int) -> ThreadPoolExecutor:
    """A thread that lives in a node's namespaces and starts processes there by vfork(2). A child
    that joins them by itself needs fork(2), which takes twenty times as long here: the memory of a
    test run is large, and User-Mode Linux copies page tables slowly."""
    every = NAMESPACES | namespaces.PID
    return ThreadPoolExecutor(1, f"node-{pid}", partial(namespaces.enter, pid, every))


def names() -> list[str]:
    return sorted(path.name for path in STATE.iterdir()) if STATE.is_dir() else []


def bring_up(wanted: topology.Topology) -> None:
    """Make the nodes, then the cables, then what is configured on them; wait until it holds."""
    STATE.mkdir(parents=True, exist_ok=True)
    os.makedirs("/run/netns", exist_ok=True)
    hosts = _hosts(wanted)
    starting = [_start_node(node, hosts) for node in wanted.nodes]
    for name, child in starting:
        ready = STATE / name / "ready"
        wait_until(partial(_started_or_ended, ready, child), f"node {name}")
        if not ready.exists():
            raise LabError(f"node {name}", f"did not start: status {child.returncode}")
    nodes = {node.name: Node(node.name) for node in wanted.nodes}
    lines = []
    for link in wanted.links:
        (a, a_name), (b, b_name) = link.ends
        lines.append(
            f"link add {a_name} mtu {link.mtu} netns {nodes[a].pid} type veth"
            f" peer name {b_name} mtu {link.mtu} netns {nodes[b].pid}"
        )
    _ip_batch(["ip", "-batch", "-"], lines, "links")
    for node in wanted.nodes:
        _configure(node, nodes[node.name], wanted)
    for node in wanted.nodes:
        wait_until(partial(_settled, nodes[node.name]), f"links of {node.name}")


def _start_node(node: topology.Node, hosts: str) -> tuple[str, subprocess.Popen[bytes]]:
    state = STATE / node.name
    (state / "layer").mkdir(parents=True)
    (state / "hosts").write_text(hosts)
    out = os.environ.get("LAB_OUT")
    if out:
        (Path(out) / node.name).mkdir(parents=True, exist_ok=True)
    # The next child of this thread becomes the first process of a new pid namespace.
    namespaces.unshare(namespaces.PID)
    try:
        child = subprocess.Popen(
            ["sh", str(FRESH_INIT if node.fresh else INIT), node.name, node.role],
            stdin=subprocess.DEVNULL, cwd="/",
            preexec_fn=lambda: namespaces.unshare(NAMESPACES),  # noqa: PLW1509
            start_new_session=True,
        )  # fmt: skip
    finally:
        namespaces.stay_in_own_pid_namespace()
    pid_file = state / "pid"
    pid_file.with_suffix(".new").write_text(f"{child.pid}\n")
    pid_file.with_suffix(".new").rename(pid_file)
    return node.name, child


def _started_or_ended(ready: Path, child: subprocess.Popen[bytes]) -> bool:
    return ready.exists() or child.poll() is not None


def _hosts(wanted: topology.Topology) -> str:
    return "".join(
        f"{address.split('/')[0]} {node.name}\n" for node in wanted.nodes for address in node.lo
    )


def _configure(node: topology.Node, up: Node, wanted: topology.Topology) -> None:
    for key, value in node.sysctl.items():
        up.run(["sysctl", "-q", "-w", f"{key}={value}"])
    lines = [f"address add {address} dev lo" for address in node.lo]
    interfaces = [name for link in wanted.links for end, name in link.ends if end == node.name]
    lines += [f"link set {interface} up" for interface in interfaces]
    for interface, addresses in node.interfaces.items():
        for address in addresses:
            nodad = " nodad" if ":" in address else ""
            lines.append(f"address add {address} dev {interface}{nodad}")
    lines += [f"route add {route.to} via {route.via}" for route in node.routes]
    lines += [f"route add default via {gateway}" for gateway in node.gateway]
    enter = ["nsenter", "--target", str(up.pid), "--net", "ip", "-batch", "-"]
    _ip_batch(enter, lines, f"node {node.name}")
    # Makes `ip -n NODE` and `ip netns exec NODE` work as well.
    handle = Path("/run/netns") / node.name
    handle.touch()
    subprocess.run(["mount", "--bind", f"/proc/{up.pid}/ns/net", str(handle)], check=True)


def _ip_batch(argv: Sequence[str], lines: Sequence[str], subject: str) -> None:
    done = subprocess.run(
        argv, input="".join(f"{line}\n" for line in lines), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        message = done.stderr.strip().splitlines()
        raise LabError(subject, "; ".join(message) or f"ip ended with {done.returncode}")


def _settled(node: Node) -> bool:
    """All links have a carrier, no address waits for duplicate address detection."""
    shown = subprocess.run(
        ["nsenter", "--target", str(node.pid), "--net", "ip", "-j", "address"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for link in json.loads(shown):
        if link["link_type"] == "ether" and "LOWER_UP" not in link["flags"]:
            return False
        if any(address.get("tentative") for address in link["addr_info"]):
            return False
    return True


def main() -> int:
    """Bring up the topology given as JSON on stdin."""
    try:
        bring_up(topology.from_json(json.load(sys.stdin)))
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
