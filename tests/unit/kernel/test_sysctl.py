"""Values that another one makes of no effect, and those that can't be read."""

import errno
from pathlib import Path

import pytest

from srv6mgrd.kinds.sysctl import kernel as sysctl
from srv6mgrd.netlink.errors import KernelError

OF_RED = "net/ipv4/conf/red/rp_filter"


@pytest.mark.parametrize(("of_all", "keys"), [("0", []), ("1", [f"sysctl {OF_RED}"]), (None, [])])
def test_the_reverse_path_filter_for_all(
    tmp_path: Path, of_all: str | None, keys: list[str]
) -> None:
    if of_all is not None:
        place = tmp_path / "net/ipv4/conf/all"
        place.mkdir(parents=True)
        (place / "rp_filter").write_text(f"{of_all}\n")

    found = sysctl.overruled(["net/ipv4/ip_forward", OF_RED], tmp_path)

    assert list(found) == keys
    assert all("net.ipv4.conf.all.rp_filter is 1" in message for message in found.values())


def test_a_value_that_we_lack_a_descriptor_for_is_not_taken_for_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_text", full)

    with pytest.raises(KernelError, match=r"sysctl net\.vrf\.strict_mode: it can't be read"):
        list(sysctl.read(["net/vrf/strict_mode"], tmp_path))
