"""Loading: what the kernel refuses is told in the words of its verifier."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from srv6mgrd.kernel.errors import Failure
from srv6mgrd.proxy import libbpf
from srv6mgrd.proxy.programs import Programs

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
    assert failure.words.startswith("Permission denied: invalid access to packet, off=0 size=1")
    assert "processed" not in failure.words


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    compiled = tmp_path / "broken.o"
    compiled.write_text("no ELF file")

    failure = Programs(compiled, tmp_path).load_only()

    assert isinstance(failure, Failure)
    assert str(compiled) in failure.words


def test_a_kernel_without_tcx_is_told(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert programs.load_only() is None
    # What bpf(2) says of a kind of link that it does not know.
    monkeypatch.setattr(libbpf, "link", lambda *_: Failure.of(errno.EINVAL))

    failure = programs.load_only()

    assert failure is not None
    assert failure.words == "the kernel has no tcx, which Linux 6.6 brought"
