"""Services of a router node, started as an init system would: readiness, logs, restarts.

What runs is remembered in files, so that any later process of the lab can stop or watch what an
earlier one started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.guest.catalogue import FRR_DAEMONS, SERVICES, Service, log_file, service_named
from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until

NOTIFY = Path("/lab/run/notify")
STOP_DEADLINE = 15.0
LOG_LINES = 15


class Router:
    """The services of one node."""

    def __init__(self, node: Node | str) -> None:
        self.node = Node(node) if isinstance(node, str) else node
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str, env: Mapping[str, str] | None = None) -> None:
        """Start services one after the other, each ready before the next one starts."""
        for name in names:
            self.start_service(service_named(name), env)

    def start_service(self, service: Service, env: Mapping[str, str] | None = None) -> None:
        """Start any service, also one that is not in SERVICES; it is ready on return."""
        if self.is_running(service.name):
            raise LabError(self._subject(service.name), "runs already", "stop it first")
        log = log_file(self.node.name, service.name)
        log.parent.mkdir(parents=True, exist_ok=True)
        if service.prepare is not None:
            service.prepare(self.node, service)
        environment = {**service.env, **(env or {})}
        with contextlib.ExitStack() as stack:
            notify = None
            if service.ready is None:
                notify = stack.enter_context(_NotifySocket(self.node.name, service.name))
                environment["NOTIFY_SOCKET"] = str(notify.path)
            out = stack.enter_context(log.open("ab"))
            child = self.node.popen(
                service.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env={"PYTHONUNBUFFERED": "1", **environment}, new_session=True,
            )  # fmt: skip
            self._children[service.name] = child
            if service.stays:
                self._remember(service.name, child.pid)
            elif status := child.wait(timeout=service.timeout):
                raise self._failure(service.name, f"ended with status {status}")
            self._wait_ready(service, child, notify)

    def stop(self, name: str) -> None:
        """End a service and wait until it is gone."""
        service = service_named(name)
        if service.stop_argv:
            self.node.run(service.stop_argv)
        elif service.stays and self.is_running(name):
            self._signal_and_wait(name, signal.SIGTERM, STOP_DEADLINE)
        self._state(name).unlink(missing_ok=True)

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal; of a daemon of FRR, give its own name. SIGKILL is waited for."""
        if name in (*FRR_DAEMONS, "watchfrr"):
            pid = self.node.read_file(f"/run/frr/{name}.pid").strip()
            self.node.run(["kill", f"-{int(number)}", pid])
        elif number == signal.SIGKILL:
            self._signal_and_wait(name, number, STOP_DEADLINE)
        else:
            os.kill(self.pid(name), number)

    def restart(self, name: str, env: Mapping[str, str] | None = None) -> None:
        self.stop(name)
        self.start(name, env=env)

    def pid(self, name: str) -> int:
        """The pid as it is seen outside the node; LabError when there is none."""
        with contextlib.suppress(OSError, ValueError):
            state = json.loads(self._state(name).read_text())
            if _started(state["pid"]) == state["started"]:
                return int(state["pid"])
        raise LabError(self._subject(name), "does not run")

    def is_running(self, name: str) -> bool:
        service = SERVICES.get(name)
        if service is not None and not service.stays:
            return service.ready is not None and service.ready(self.node)
        try:
            self.pid(name)
        except LabError:
            return False
        return True

    def log(self, name: str) -> str:
        """All that the service has written."""
        try:
            return log_file(self.node.name, name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def wait_ready(self, name: str, timeout: float | None = None) -> None:
        """Wait until a service that is asked for its readiness (not notify) answers."""
        service = service_named(name)
        ready = service.ready
        if ready is not None:
            wait_until(
                lambda: ready(self.node), self._subject(name), timeout or service.timeout, 0.05
            )

    def _wait_ready(
        self, service: Service, child: subprocess.Popen[bytes], notify: _NotifySocket | None
    ) -> None:
        deadline = time.monotonic() + service.timeout
        while True:
            if notify is not None:
                done = notify.wait(child.pid, deadline)
            else:
                assert service.ready is not None
                done = service.ready(self.node)
            if done:
                return
            if service.stays and child.poll() is not None:
                raise self._failure(service.name, f"ended with status {child.returncode}")
            if time.monotonic() > deadline:
                raise self._failure(service.name, f"not ready within {service.timeout:.0f} s")
            if notify is None:
                time.sleep(0.02)

    def _signal_and_wait(self, name: str, number: signal.Signals, timeout: float) -> None:
        pid = self.pid(name)
        pidfd = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(pidfd, number)
            ended, _, _ = select.select([pidfd], [], [], timeout)
        finally:
            os.close(pidfd)
        if not ended:
            raise self._failure(name, f"did not end within {timeout:.0f} s of {number.name}")
        child = self._children.pop(name, None)
        if child is not None:
            child.wait()

    def _failure(self, name: str, cause: str) -> LabError:
        lines = self.log(name).splitlines()[-LOG_LINES:]
        shown = "".join(f"\n| {line}" for line in lines)
        return LabError(self._subject(name), cause + shown)

    def _subject(self, name: str) -> str:
        return f"{self.node.name}: {name}"

    def _state(self, name: str) -> Path:
        return self.node.state / f"{name}.service"

    def _remember(self, name: str, pid: int) -> None:
        self._state(name).write_text(json.dumps({"pid": pid, "started": _started(pid)}))


class _NotifySocket:
    """The receiving end of sd_notify(3)."""

    def __init__(self, node: str, service: str) -> None:
        NOTIFY.mkdir(parents=True, exist_ok=True)
        self.path = NOTIFY / f"{node}-{service}"
        self.path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self.path))

    def __enter__(self) -> _NotifySocket:
        return self

    def __exit__(self, *_: object) -> None:
        # The path stays: the service goes on writing its status there.
        self._socket.close()

    def wait(self, pid: int, deadline: float) -> bool:
        """True on READY=1; False when the process ended or the time is over."""
        pidfd = os.pidfd_open(pid)
        try:
            while (left := deadline - time.monotonic()) > 0:
                sock = self._socket.fileno()
                readable, _, _ = select.select([sock, pidfd], [], [], left)
                if sock in readable:
                    if b"READY=1" in self._socket.recv(4096).split(b"\n"):
                        return True
                elif readable:
                    return False
        finally:
            os.close(pidfd)
        return False


def _started(pid: int) -> str | None:
    """The start time of a live process: with it a pid means one process only."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def main(arguments: Sequence[str]) -> int:
    """svc NODE start|stop|restart|log|status SERVICE..."""
    try:
        node, verb, *names = arguments
    except ValueError:
        print(f"usage: {main.__doc__}", file=sys.stderr)
        return 2
    try:
        router = Router(node)
        if verb == "start":
            router.start(*names)
        elif verb == "stop":
            for name in names:
                router.stop(name)
        elif verb == "restart":
            for name in names:
                router.restart(name)
        elif verb == "log":
            for name in names:
                sys.stdout.write(router.log(name))
        elif verb == "status":
            for name in names or SERVICES:
                print(f"{name}: {'running' if router.is_running(name) else 'not running'}")
        else:
            print(f"usage: {main.__doc__}", file=sys.stderr)
            return 2
    except LabError as error:
        print(f"svc: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
