"""Life of a router: installed from the repository, rebooted, upgraded, removed, purged.

Debian's own kernel, systemd as the first process. The tests run in their order, on one machine;
each needs what those before it left.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from lab.enclosure import CHECKOUT
from lab.vm.machine import VirtualMachine
from lab.waiting import wait_until
from tests.vm.conftest import Served

HERE = Path(__file__).parent
NEXT = CHECKOUT / "tests/robot/library/next-version.sh"
SERVICES = ("frr", "srv6-redis", "srv6mgrd", "srv6-gnmid", "srv6-stampd", "srv6-netconfd")
OURS = SERVICES[1:]
APT = "DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Use-Pty=0"
ANSWERS = 'APT::Get::Assume-Yes "true"; APT::Update::Error-Mode "any"; Dpkg::Use-Pty "0";\n'
# Translated code is slow: of an installation, of a boot, and until BGP is up.
LONG, SOON = 2400.0, 900.0
SID, SITE = "fcbb:0:1:64::/64", "10.2.0.10"
PE2_DAEMONS = 'bgpd=yes\nvtysh_enable=yes\nwatchfrr_options="--netns"\n'
PACKAGES = "'srv6mgr*'"
# SIDs of a commit that takes a while.
MANY = 10_000
DROP_IN = "/etc/systemd/system/srv6mgrd.service.d/limits.conf"
LEFT = (
    "find / -xdev \\( -path /proc -o -path /sys -o -path /root -o -path /var/cache/apt"
    " -o -path /var/lib/apt -o -path /etc/apt -o -path /var/log/journal \\) -prune"
    " -o \\( -name '*srv6*' -o -name 'gnmid*' \\) -print"
)


def put(router: VirtualMachine, name: str, text: str, mode: str = "644") -> None:
    """Write a file of the machine."""
    router.run(f"mkdir -p $(dirname {name}) && cat >{name} && chmod {mode} {name}", stdin=text)


def vpn() -> str:
    """The configuration of pe1 in the tutorial."""
    page = (CHECKOUT / "docs/tutorial/first-vpn.md").read_text()
    return page.partition("<<'EOF'\n")[2].partition("EOF\n")[0]


def unit(router: VirtualMachine, name: str) -> dict[str, str]:
    wanted = "ActiveState,NRestarts,MainPID,Result"
    shown = router.run(f"systemctl show {name} --property={wanted}").stdout
    return dict(line.partition("=")[::2] for line in shown.splitlines())


def are_up(router: VirtualMachine, names: tuple[str, ...] = SERVICES) -> None:
    """Each is active, and was not started again."""
    for name in names:
        shown = unit(router, name)
        if (shown["ActiveState"], shown["NRestarts"]) != ("active", "0"):
            logged = router.run(f"journalctl --no-pager --unit={name} | tail -n 40", check=False)
            pytest.fail(f"{name}: {shown}\n{logged.stdout}")


def answers(router: VirtualMachine) -> bool:
    ping = f"ip netns exec red1 ping -q -c 1 -W 2 {SITE}"
    return router.run(ping, check=False).returncode == 0


def is_reached(router: VirtualMachine) -> float:
    """Seconds until the other site answers."""
    started = time.monotonic()
    wait_until(partial(answers, router), f"{SITE} answers", SOON, 1.0)
    return time.monotonic() - started


def counted(router: VirtualMachine) -> int:
    """Packets that the SID of red took in."""
    shown = json.loads(router.run("srv6ctl show counters --no-rates --json").stdout)
    (found,) = [row for row in shown["counters"] if row["prefix"] == SID]
    return int(found["in-pkts"])


@contextmanager
def traffic(router: VirtualMachine) -> Iterator[None]:
    """Requests to the other site meanwhile, each of which is answered."""
    router.run(
        "systemd-run --quiet --unit=flow --property=KillSignal=SIGINT"
        f" ip netns exec red1 ping -q -i 0.2 {SITE}"
    )
    try:
        yield
    finally:
        router.run("systemctl stop flow")
    said = router.run("journalctl --no-pager --output=cat --unit=flow | grep transmitted").stdout
    assert " 0% packet loss" in said.splitlines()[-1], said


def configuration(router: VirtualMachine) -> object:
    command = "sysrepocfg -X -d running -f json -m srv6mgr-srv6"
    return json.loads(router.run(command, timeout=SOON).stdout)


def test_it_is_debian_with_its_own_kernel(router: VirtualMachine) -> None:
    assert router.run("cat /proc/1/comm").stdout == "systemd\n"
    assert router.run("cut -d. -f1 /etc/debian_version").stdout == "13\n"
    assert "linux-image" in router.run("dpkg -S /boot/vmlinuz-$(uname -r)").stdout


def test_apt_installs_it(router: VirtualMachine, offered: Served) -> None:
    """As the tutorial says, with the word "yes" for apt."""
    put(router, "/root/srv6mgr.sources", offered.sources())
    put(router, "/etc/apt/apt.conf.d/answers", ANSWERS)
    page = (CHECKOUT / "docs/tutorial/first-vpn.md").read_text()
    printed = page.partition("## Install\n")[2].partition("```text\n")[2].partition("```")[0]
    router.run(f"set -e; export DEBIAN_FRONTEND=noninteractive\n{printed}", timeout=LONG)
    are_up(router)


def test_it_carries_a_vpn(router: VirtualMachine) -> None:
    """With a provider edge that FRR alone configures."""
    put(router, "/etc/frr/pe2/daemons", PE2_DAEMONS)
    put(router, "/etc/frr/pe2/frr.conf", (HERE / "pe2.conf").read_text())
    put(router, "/etc/frr/pe2/vtysh.conf", "service integrated-vtysh-config\n")
    put(router, "/root/sites.sh", (HERE / "sites.sh").read_text(), "755")
    put(router, "/etc/systemd/system/sites.service", (HERE / "sites.service").read_text())
    router.run("chown -R frr:frr /etc/frr && systemctl enable --now sites", timeout=SOON)
    put(router, "/root/vpn.json", vpn())
    router.run("srv6ctl apply /root/vpn.json", timeout=SOON)
    is_reached(router)


def test_the_drop_in_gives_bgp_its_descriptors(router: VirtualMachine) -> None:
    """FRR's own unit has 1,024, which last for 499 VRFs."""
    limits = router.run("cat /proc/$(cat /run/frr/bgpd.pid)/limits").stdout
    (of_files,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
    assert of_files.split()[3:5] == ["16384", "16384"]


def test_it_counts_each_packet(router: VirtualMachine) -> None:
    before = counted(router)
    router.run(f"ip netns exec red1 ping -q -c 10 -i 0.2 {SITE}")
    wait_until(lambda: counted(router) == before + 10, "10 replies are counted", SOON, 1.0)


def test_the_doctor_finds_nothing_wrong(router: VirtualMachine) -> None:
    found = json.loads(router.run("srv6ctl doctor --json", check=False).stdout)["findings"]
    levels = {one["level"] for one in found}
    assert "ok" in levels
    assert not levels & {"fail", "skip"}, found


def test_a_reboot_restores_all(router: VirtualMachine) -> None:
    before = configuration(router)
    router.reboot()
    are_up(router)
    is_reached(router)
    assert configuration(router) == before
    wait_until(lambda: counted(router) > 0, "packets are counted again", SOON, 1.0)


@contextmanager
def watchdog(router: VirtualMachine, seconds: float) -> Iterator[None]:
    """srv6mgrd has so many seconds between signs of life; its unit has minutes."""
    put(router, DROP_IN, f"[Service]\nWatchdogSec={seconds:.1f}\n")
    router.run("systemctl daemon-reload && systemctl restart srv6mgrd", timeout=LONG)
    try:
        yield
    finally:
        router.run(f"rm -r $(dirname {DROP_IN}) && systemctl daemon-reload")
        router.run("systemctl restart srv6mgrd", timeout=LONG)


def many(*, are_there: bool) -> str:
    """A change of so many SIDs, as an edit of sysrepo."""
    operation = "merge" if are_there else "remove"
    sids = [
        {
            "@": {"ietf-netconf:operation": operation}, "prefix": f"fcbb:0:1:{0x1000 + n:x}::/64",
            "locator": "MAIN", "behavior": "End",
        }
        for n in range(MANY)
    ]  # fmt: skip
    return json.dumps({"srv6mgr-srv6:srv6": {"local-sids": {"sid": sids}}})


def edit(router: VirtualMachine, text: str) -> float:
    """Seconds that the commit takes."""
    put(router, "/root/edit.json", text)
    started = time.monotonic()
    command = "sysrepocfg --edit=/root/edit.json --datastore=running --format=json --timeout=1200"
    router.run(command, timeout=LONG)
    return time.monotonic() - started


def test_a_long_commit_is_not_taken_for_a_hang(router: VirtualMachine) -> None:
    """systemd's watchdog ends a process that does not feed it; a commit that takes longer goes on.
    How long it takes depends on the host, and is measured first."""
    took = edit(router, many(are_there=True))
    edit(router, many(are_there=False))
    with watchdog(router, took / 3):
        before = unit(router, "srv6mgrd")["MainPID"]
        again = edit(router, many(are_there=True))
        shown = unit(router, "srv6mgrd")
        assert again > took / 3, "too short to show anything"
        assert (shown["MainPID"], shown["NRestarts"]) == (before, "0"), (took, again, shown)
        edit(router, many(are_there=False))
    print(f"{MANY} SIDs: {took:.1f} s and {again:.1f} s")


def test_an_upgrade_keeps_configuration_and_traffic(
    router: VirtualMachine, offered: Served, tmp_path: Path
) -> None:
    before = configuration(router)
    subprocess.run(["sh", NEXT, offered.debs, tmp_path / "next"], check=True)
    offered.offer(tmp_path / "next")
    with traffic(router):
        router.run(f"{APT} --error-on=any update", timeout=LONG)
        router.run(f"{APT} upgrade", timeout=LONG)
    assert router.run("dpkg-query -W -f '${Version}' srv6mgr").stdout.endswith("+next")
    are_up(router)
    assert configuration(router) == before


def test_a_removal_leaves_traffic(router: VirtualMachine) -> None:
    with traffic(router):
        router.run(f"{APT} remove {PACKAGES}", timeout=LONG)
    shown = router.run("systemctl list-units --all --plain --no-legend 'srv6*'").stdout
    assert " active " not in shown, shown


def test_a_purge_leaves_nothing(router: VirtualMachine) -> None:
    router.run(f"{APT} purge {PACKAGES}", timeout=LONG)
    assert router.run(LEFT).stdout == ""
    assert router.run("ip -br link show type vrf").stdout == ""
    assert router.run("ip -6 route show table all | grep seg6local", check=False).stdout == ""
    assert router.run("nft list ruleset").stdout == ""
