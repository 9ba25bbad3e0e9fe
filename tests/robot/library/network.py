"""The nodes of the topology and the services on its routers."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
from collections.abc import Sequence

from robot.api.deco import library

from lab.guest.nodes import Node
from lab.guest.services import Router

SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid")


@functools.cache
def node(name: str) -> Node:
    return Node(name)


@functools.cache
def router(name: str) -> Router:
    return Router(node(name))


@library(scope="GLOBAL", auto_keywords=True)
class Network:
    """Services up and down, and commands on nodes."""

    def start_routers(self, *names: str) -> None:
        """Start the services of the routers that don't run, on all at the same time. Those that
        boot a fresh Debian start their own."""
        starting = [
            subprocess.Popen(
                ["svc", name, "start", *(s for s in SERVICES if not router(name).is_running(s))],
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in names
            if not node(name).is_fresh
        ]
        said = [child.communicate()[1] for child in starting]
        if failed := [text for child, text in zip(starting, said, strict=True) if child.returncode]:
            raise AssertionError("\n".join(failed))

    def stop_routers(self, *names: str) -> None:
        """Stop the services of routers, those first that use others."""
        for name in names:
            for service in reversed(SERVICES):
                router(name).stop(service)

    def start_service(self, name: str, service: str) -> None:
        """Start a service of a node; it is ready on return."""
        router(name).start(service)

    def stop_service(self, name: str, service: str) -> None:
        """Stop a service of a node; it is gone on return."""
        router(name).stop(service)

    def restart_service(self, name: str, service: str) -> None:
        """Stop and start a service of a node; it is ready on return."""
        router(name).restart(service)

    def kill_service(self, name: str, service: str) -> None:
        """SIGKILL for a service, or for a daemon of FRR: ``kill -9``."""
        router(name).kill(service, signal.SIGKILL)

    def suspend_service(self, name: str, service: str) -> None:
        """SIGSTOP: it is there and does nothing."""
        os.kill(router(name).pid(service), signal.SIGSTOP)

    def resume_service(self, name: str, service: str) -> None:
        os.kill(router(name).pid(service), signal.SIGCONT)

    def wait_for_service(self, name: str, service: str, timeout: float = 30) -> None:
        """Wait until a service that others restart answers again."""
        router(name).wait_ready(service, timeout)

    def run_on(self, name: str, command: str) -> str:
        """Run a shell line on a node; returns what it printed. A failure fails the test."""
        return node(name).run(["sh", "-c", command]).stdout.strip()

    def run_fails(self, name: str, command: Sequence[str] | str) -> str:
        """Run a shell line that has to fail; returns what it said on standard error."""
        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        done = node(name).run(argv, check=False)
        if done.returncode == 0:
            raise AssertionError(f"{name}: {command}: succeeded")
        return done.stderr.strip()
