"""The kernel's capabilities, and the options that it lacks for others."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from srv6mgrd.cli.doctor.finding import Finding, fail, note, ok, skip, warn

_LWTUNNEL = ("IPV6_SEG6_LWTUNNEL",)
# What is lacking, and the options that bring it.
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "dummy": ("DUMMY",),
    "vrf": ("NET_VRF", "NET_L3_MASTER_DEV"),
    "nftables": ("NF_TABLES", "NF_TABLES_IPV6"),
    "bpf": ("BPF_SYSCALL", "BPF_JIT", "NET_CLS_BPF", "NET_SCH_INGRESS"),
    "End.BPF": ("IPV6_SEG6_BPF",),
}
_MODULES = {"NET_VRF": "vrf", "DUMMY": "dummy", "NF_TABLES": "nf_tables", "NET_CLS_BPF": "cls_bpf"}
# Without these there is no service at all; without those a part of it.
_VITAL = ("dummy", "End", "counters")
_USUAL = ("vrf", "End.DT46", "H.Encaps", "nftables")


def kernel(offered: Mapping[str, Any]) -> Iterator[Finding]:
    """``offered`` is the container ``capabilities`` of srv6mgr-operations."""
    if not offered:
        yield skip("kernel", "it was not tried out", "run srv6ctl as root, or start srv6mgrd")
        return
    missing = {m["name"]: m.get("reason", "") for m in offered.get("missing", [])}
    options = _configured()
    behaviors = len(offered.get("behavior", []))
    yield ok("kernel", f"{offered.get('kernel', '')} offers {behaviors} behaviors")
    for name, reason in missing.items():
        if name.startswith("frr"):
            continue
        reported = fail if name in _VITAL else warn if name in _USUAL else None
        message = f"{name} is not offered: {reason}"
        if reported is None:
            yield note("kernel", message)
        else:
            yield reported("kernel", message, _remedy(name, options))


def _remedy(name: str, options: Mapping[str, str]) -> str:
    wanted = _OPTIONS.get(name, _LWTUNNEL if name.startswith(("End", "H.")) else ())
    if name == "counters":
        return "use Linux 5.14 or newer"
    if not wanted:
        return "use a newer kernel"
    remedies = []
    for option in wanted:
        value = options.get(option, "" if options else "?")
        if value == "m":
            remedies.append(f"modprobe {_MODULES.get(option, option.lower())}")
        elif value in {"", "?"}:
            remedies.append(f"use a kernel with CONFIG_{option}")
    return ", ".join(remedies) or "use a newer kernel"


def _configured() -> dict[str, str]:
    """Options of the running kernel that are set (y or m); none where they can't be read."""
    try:
        text = gzip.decompress(Path("/proc/config.gz").read_bytes()).decode()
    except OSError:
        try:
            text = Path(f"/boot/config-{os.uname().release}").read_text()
        except OSError:
            return {}
    pairs = (line.removeprefix("CONFIG_").partition("=") for line in text.splitlines())
    return {name: value for name, equals, value in pairs if equals and not name.startswith("#")}


def probed() -> dict[str, Any]:
    """The container ``capabilities`` as the kernel answers now, in a network namespace of its own;
    empty without the right to make one."""
    from srv6mgrd.counters.node import capabilities
    from srv6mgrd.kernel.probe import probe
    from srv6mgrd.model.capabilities import FrrCapabilities
    from srv6mgrd.netlink.errors import KernelError

    try:
        return capabilities(probe(), FrrCapabilities())
    except (KernelError, OSError):
        return {}
