"""Network namespaces around the one of a test, by short names."""

from __future__ import annotations

import os
import subprocess


class Nodes:
    """Names are of this process: tests may run beside others."""

    def run(self, command: str) -> str:
        done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def name(self, node: str) -> str:
        return f"{node}-{os.getpid()}"

    def on(self, node: str, command: str) -> str:
        return self.run(f"ip netns exec {self.name(node)} {command}")
