"""Loading: what the kernel rejects is reported in the words of its verifier."""

from __future__ import annotations

import errno
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.proxy.object import TOWARD_FUNCTION, ProxyHook, ProxyPrograms
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.actions import Create, Replace
from srv6mgrd.proxy import layout
from srv6mgrd.proxy.programs import Programs
from tests.contract.proxy.conftest import UNDERLAY, Node, proxy
from tests.contract.proxy.packets import REDIRECT, inner6, routed

pytestmark = pytest.mark.contract

UNCHECKED = """
#include <linux/bpf.h>
__attribute__((section("tc"), used))
int unchecked(struct __sk_buff *skb)
{
    return *(char *)(long)skb->data;
}
char _license[] __attribute__((section("license"), used)) = "GPL";
"""


def test_the_verifier_is_quoted(tmp_path: Path) -> None:
    source, compiled = tmp_path / "unchecked.c", tmp_path / "unchecked.o"
    source.write_text(UNCHECKED)
    include = (
        f"-I/usr/include/{subprocess.check_output(['uname', '-m'], text=True).strip()}-linux-gnu"
    )
    subprocess.run(
        ["clang", "-O2", "--target=bpf", include, "-c", source, "-o", compiled], check=True
    )

    failure = Programs(compiled, tmp_path).load_only()

    assert isinstance(failure, Failure)
    assert failure.message.startswith("Permission denied: invalid access to packet, off=0 size=1")
    assert "processed" not in failure.message


def test_what_is_no_program_is_rejected(tmp_path: Path) -> None:
    compiled = tmp_path / "broken.o"
    compiled.write_text("no ELF file")

    failure = Programs(compiled, tmp_path).load_only()

    assert isinstance(failure, Failure)
    assert str(compiled) in failure.message


def test_a_kernel_without_tcx_is_reported(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert programs.load_only() is None
    # What bpf(2) says of a kind of link that it does not know.
    monkeypatch.setattr(libbpf, "link", lambda *_: Failure.of(errno.EINVAL))

    failure = programs.load_only()

    assert failure is not None
    assert failure.message == "the kernel has no tcx, which Linux 6.6 brought"


def test_what_runs_is_replaced_with_programs_that_lost_their_maps(
    node: Node, programs: Programs
) -> None:
    node.declare(proxy())
    hook = ProxyHook(UNDERLAY, TOWARD_FUNCTION)
    assert node.kernel.apply([Create(hook)]) == []
    for pin in (programs.folder / "maps").iterdir():
        pin.unlink()

    stale = hooks(node)
    replaced = [Replace(ProxyPrograms(intact=False), ProxyPrograms())]

    assert stale == [replace(hook, current=False)]
    assert node.kernel.apply([*replaced, Replace(stale[0], hook)]) == []
    assert hooks(node) == [hook]


def test_maps_that_another_version_laid_out_make_way(node: Node, programs: Programs) -> None:
    """A counter more, say; proxies and what they learned stay."""
    wanted = proxy(age=3600)
    node.declare(wanted)
    node.toward(routed(inner6()))
    learned = node.chain()
    shape = f"type percpu_array key 4 value 88 entries {layout.MAX_PROXIES} name counters"
    pin = programs.folder / "maps/counters"
    pin.unlink()
    subprocess.run(["bpftool", "map", "create", pin, *shape.split()], check=True)
    programs.close()

    # What is read of it would be wrong.
    assert node.kernel.observe([]).objects[ProxyPrograms().key].object == ProxyPrograms(False)
    assert node.kernel.apply([Replace(ProxyPrograms(False), ProxyPrograms())]) == []
    node.declare(wanted)

    assert node.chain() == learned
    assert node.toward(routed(inner6()))[0] == REDIRECT
    assert node.counts().to_packets == 1


def hooks(node: Node) -> list[ProxyHook]:
    found = node.kernel.observe([]).objects.values()
    return [seen.object for seen in found if isinstance(seen.object, ProxyHook)]
