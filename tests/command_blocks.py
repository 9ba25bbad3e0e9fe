"""Command blocks of documentation pages, as a test runs them.

A block of commands names the nodes that it runs on in its title; a block of output after it is what
the last node has to print::

    ```sh title="pe1"
    srv6ctl show sids
    ```

    ```text title="Output"
    SID ...
    ```
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

_FENCE = re.compile(
    r'(?ms)^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n'
    r"(?P<text>.*?)^(?P=indent)```$"
)
_FENCE_OF_ANY_KIND = re.compile(
    r'(?ms)^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]*)")?[^\n]*\n'
    r"(?P<text>.*?)^(?P=indent)```$"
)
# A command begins with one of these, maybe behind a prompt.
_PROGRAMS = (
    "adduser", "ansible-galaxy", "ansible-playbook", "apt", "apt-get", "bpftool", "cat", "clang",
    "containerlab", "cp", "curl", "docker", "echo", "git", "gnmi_cli", "gnmic", "grpcurl", "ip",
    "jq", "lab/lab", "make", "ping", "podman", "python3", "redis-cli", "sed", "skopeo",
    "sonic-package-manager", "srv6ctl", "srv6net", "sysctl", "sysrepocfg", "sysrepoctl",
    "systemctl", "tests/runner", "umoci", "vtysh",
)  # fmt: skip
_COMMAND = re.compile(
    rf"(?:(?:[a-z0-9-]+[$#]|[#$]) )?(?:{'|'.join(map(re.escape, _PROGRAMS))})(?=\s)"
)
# Indented by four spaces, or by more in a list.
_INDENTED = re.compile(r"(?m)(?:^ {4}.*\n)+")
# Times and counts of seconds differ from run to run.
_AGE = re.compile(r"\b\d+ (?:s|min|h|d)\b|\btime \d+ms")


@dataclass(frozen=True, slots=True)
class Block:
    """Commands, the nodes that they run on, and what the last one prints."""

    line: int
    nodes: tuple[str, ...]
    commands: str
    output: str | None = None


def blocks(page: str) -> Iterator[Block]:
    """The command blocks of a page in order. ValueError for one that no test can run."""
    last: Block | None = None
    for fence in _FENCE.finditer(page):
        text = textwrap.dedent(fence["text"])
        line = page.count("\n", 0, fence.start("language")) + 1
        if fence["language"] == "sh":
            if last is not None:
                yield last
            if not fence["title"]:
                raise ValueError(f"line {line}: a block of commands has to name its nodes")
            nodes = tuple(re.split(r", | and ", fence["title"]))
            last = Block(line, nodes, text)
        elif fence["title"] == "Output":
            if last is None:
                raise ValueError(f"line {line}: output without commands before it")
            last = replace(last, output=text)
    if last is not None:
        yield last


def unfollowed(page: str) -> Iterator[str]:
    """The first line, without a comment, of each block of commands that ``blocks`` leaves out."""
    kept = [
        fence["text"]
        for fence in _FENCE_OF_ANY_KIND.finditer(page)
        if not (fence["language"] == "sh" and fence["title"])
    ]
    kept += _INDENTED.findall(_FENCE_OF_ANY_KIND.sub("", page))
    for block in kept:
        first = block.strip().partition("\n")[0]
        if _COMMAND.match(first):
            yield first.partition("  #")[0].strip()


def indented_block(page: str, start: str) -> str:
    """The block of commands without a fence that starts so."""
    found = (textwrap.dedent(block) for block in _INDENTED.findall(page))
    return next(block for block in found if block.startswith(start))


def same_output(printed: str, seen: str) -> bool:
    """Whether a page prints what was seen; ages and the widths of columns may differ. ``...`` on a
    line of its own stands for any lines."""
    pattern = [
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(_normal(line)) + r"\n"
        for line in printed.strip().splitlines()
    ]
    normal = "".join(f"{_normal(line)}\n" for line in seen.strip().splitlines())
    return re.fullmatch("".join(pattern), normal) is not None


def _normal(line: str) -> str:
    return " ".join(_AGE.sub("AGE", line).split())
