"""Values that another one makes of no effect."""

from pathlib import Path

import pytest

from srv6mgrd.kernel import sysctl

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
    assert all("net.ipv4.conf.all.rp_filter is 1" in words for words in found.values())
