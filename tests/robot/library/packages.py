"""The Debian packages on routers that boot a fresh Debian: install, upgrade, remove, purge."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from robot.api import logger
from robot.api.deco import library

from lab import previous
from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.network import node

DEBS = "/opt/debs"
REDIS = "/run/redis-srv6mgr/redis.sock"
MODULES = "/usr/share/yang/modules/srv6mgr"
NEXT = "/src/tests/robot/library/next-version.sh"
LOGIN = """set -e
mkdir -p -m 700 /root/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
"""
# systemd-networkd is given one link. It waits for udev to have seen them all, which is not there.
NETWORKD = """set -e
mkdir -p /run/systemd/network /run/udev/data
for file in /sys/class/net/*/ifindex; do echo I:1 >/run/udev/data/n$(cat $file); done
{ printf '[Match]\\nName=%s\\n[Network]\\nIPv6AcceptRA=no\\n' LINK
  ip -j address show dev LINK scope global |
    jq -r '.[].addr_info[]? | "Address=\\(.local)/\\(.prefixlen)"'
} >/run/systemd/network/LINK.network
systemctl restart systemd-networkd
"""
NETWORKD_ENDS = """systemctl stop systemd-networkd.socket systemd-networkd
rm -r /run/systemd/network /run/udev/data
rm -f /etc/systemd/networkd.conf.d/50-srv6mgr.conf
"""
# Services stop in order; then the node has what a kernel and an initial root file system start
# with. Addresses and the underlay's routes stay: the lab made them, not a file.
SHUT_DOWN = """set -e
systemctl stop graphical.target multi-user.target
systemctl stop 'srv6*' 'frr*' 'redis*' 'sysrepo*'
for link in $(ip -br link show type vrf | cut -d' ' -f1); do ip link delete $link; done
for version in -4 -6; do
    for protocol in 86 bgp; do ip $version route flush table all proto $protocol; done
    ip $version rule flush protocol 86
done
nft flush ruleset
find /dev/shm /tmp /sys/fs/bpf -mindepth 1 -delete
rm -rf /run/srv6mgr /run/redis* /run/frr
"""
BOOT = "systemd-tmpfiles --create --boot --remove; systemctl start default.target"
# What each shell offers for "srv6ctl ro", from where it looks for completions by itself.
COMPLETING = {
    "bash": ". /usr/share/bash-completion/completions/srv6ctl;"
    ' COMP_WORDS=(srv6ctl ro); COMP_CWORD=1; _srv6ctl_completion srv6ctl; echo "${COMPREPLY[@]}"',
    # What would say to the line editor what there is, prints it.
    "zsh": "autoload -Uz compinit; compinit -u -D; compadd() { };"
    " _describe() { print -r -- ${(P)argv[-2]} }; words=(srv6ctl ro); CURRENT=2;"
    " autoload -Uz $_comps[srv6ctl]; $_comps[srv6ctl]",
    "fish": "complete -C 'srv6ctl ro'",
}
LOOPBACK = {"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"}
APT = (
    "DEBIAN_FRONTEND=noninteractive apt-get -qy -o APT::Sandbox::User=root"
    " -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0"
)


def listeners(shown: str) -> list[str]:
    """Local addresses, without ports, in the output of ``ss -Htln``."""
    return [line.split()[3].rpartition(":")[0] for line in shown.splitlines() if line.strip()]


@library(scope="GLOBAL", auto_keywords=True)
class Packages:
    """What apt and systemd do."""

    def __init__(self) -> None:
        self._installed_in = 0.0

    def install_packages(self, *names: str) -> None:
        """Install a router's packages, on all at the same time; nothing is fetched."""
        started = time.monotonic()
        on_all(names, f"{APT} install $(ls {DEBS}/*.deb | grep -v tests_)")
        self._installed_in = time.monotonic() - started

    def it_took_with_the_installation_at_most(self, seconds: float, most: float) -> None:
        """The sum of the time of the installation and of what came after."""
        logger.info(f"installation {self._installed_in:.0f} s, then {seconds:.0f} s")
        if self._installed_in + seconds > most:
            raise AssertionError(f"{self._installed_in:.0f} s + {seconds:.0f} s > {most:.0f} s")

    def install_the_previous_packages(self, *names: str) -> None:
        """Install a router's packages of an earlier state, with what they recommend."""
        on_all(names, f"{APT} install $(ls {previous.DEBS}/*.deb | grep -v tests_)")

    def install_the_packages(self, name: str) -> None:
        """Upgrade to the packages of this state."""
        on_all([name], f"{APT} install $(ls {DEBS}/*.deb | grep -v tests_)")

    def shut_down(self, name: str) -> None:
        """Leave the node with its disk, links and addresses alone."""
        on_all([name], SHUT_DOWN)

    def boot(self, name: str) -> None:
        """Start what a boot starts."""
        on_all([name], BOOT)

    def install_the_tests(self, name: str) -> None:
        """Install the package that is not for routers."""
        on_all([name], f"{APT} install {DEBS}/srv6mgr-tests_*.deb")

    def upgrade_packages(self, name: str) -> None:
        """Upgrade to packages of a later version, with a later revision of a module."""
        node(name).run(["sh", NEXT, DEBS, "/tmp/next"], timeout=120)
        on_all([name], f"{APT} install /tmp/next/*.deb")

    def remove_packages(self, name: str) -> None:
        """``apt remove`` of all that is ours."""
        on_all([name], f"{APT} remove 'srv6mgr*'")

    def purge_packages(self, name: str) -> None:
        """``apt purge`` of all that is ours."""
        on_all([name], f"{APT} purge 'srv6mgr*'")

    def units_are_active(self, name: str, *units: str) -> None:
        """Each of the units is up, and has not been started again."""
        for unit in units:
            shown = show(node(name), unit)
            if shown["ActiveState"] != "active" or shown["NRestarts"] != "0":
                raise AssertionError(f"{name}: {unit}: {shown}")

    def unit_is_off(self, name: str, unit: str) -> None:
        """It does not run, and a boot does not start it."""
        command = ["systemctl", "show", "--value", "-p", "ActiveState,UnitFileState", unit]
        shown = node(name).run(command).stdout.split()
        if sorted(shown) != ["disabled", "inactive"]:
            raise AssertionError(f"{name}: {unit}: {shown}")

    def redis_on(self, name: str, db: int, *words: str) -> str:
        """What the Redis of the packages answers."""
        return node(name).run(["redis-cli", "-s", REDIS, "-n", str(db), *words]).stdout.strip()

    def wait_for_row(self, name: str, row: str, status: str, timeout: float = 20) -> None:
        """Wait until a row of STATE_DB has this status."""
        wait_until(
            lambda: self.redis_on(name, 6, "HGET", row, "status") == status,
            f"{name}: {row} is {status}", timeout, 0.1,
        )  # fmt: skip

    def log_in_with_a_key(self, name: str) -> None:
        """Root may log in on the node itself."""
        node(name).run(["sh", "-c", LOGIN])

    def netconf_says_hello(self, name: str) -> None:
        """RFC 6242 section 3: the subsystem netconf on port 830 begins with a hello."""
        command = (
            "ssh -p 830 -o BatchMode=yes -o StrictHostKeyChecking=no -s root@localhost netconf"
            " </dev/null"
        )
        said = node(name).run(["sh", "-c", command], check=False)
        if "urn:ietf:params:netconf:base:1.1" not in said.stdout:
            raise AssertionError(f"{name}: {said.stdout}{said.stderr}")

    def wait_for_unit(self, name: str, unit: str, timeout: float = 60) -> None:
        """Wait until systemd has a unit ready (again)."""
        on = node(name)
        wait_until(
            lambda: show(on, unit)["ActiveState"] == "active", f"{name}: {unit}", timeout, 0.1
        )

    def kill_unit(self, name: str, unit: str) -> str:
        """SIGKILL for the main process of a unit; returns which it was."""
        pid = show(node(name), unit)["MainPID"]
        node(name).run(["systemctl", "kill", "--signal=KILL", unit])
        wait_until(lambda: show(node(name), unit)["MainPID"] != pid, f"{name}: {unit} died")
        return pid

    def is_fed(self, name: str, unit: str) -> None:
        """The unit's watchdog has a time, and was notified that all is well."""
        shown = show(node(name), unit)
        if shown["WatchdogUSec"] in ("0", "infinity") or shown["WatchdogTimestampMonotonic"] == "0":
            raise AssertionError(f"{name}: {unit}: {shown}")

    def only_loopback_listens(self, name: str, port: int) -> None:
        """Something listens on the port, and nothing on an address that others reach."""
        shown = node(name).run(["ss", "-Htln", f"sport = :{port}"]).stdout
        found = listeners(shown)
        if not found or set(found) - LOOPBACK:
            raise AssertionError(f"{name}: port {port}: {found or 'nobody listens'}")

    def networkd_configures(self, name: str, link: str) -> None:
        """systemd-networkd starts (again) and configures this link, with the addresses it has."""
        on = node(name)
        on.run(["sh", "-c", NETWORKD.replace("LINK", link)], timeout=60)
        listed = ["networkctl", "--no-legend", "--no-pager", "list", link]
        wait_until(
            lambda: on.run(listed).stdout.split()[-1:] == ["configured"],
            f"{name}: systemd-networkd has configured {link}", 60, 0.2,
        )  # fmt: skip

    def networkd_ends(self, name: str) -> None:
        """It is as if it had never run."""
        node(name).run(["sh", "-c", NETWORKD_ENDS], timeout=60)

    def routes_and_rules(self, name: str) -> list[str]:
        """Those that neither the kernel nor networkd made."""
        command = (
            "ip -4 rule; ip -6 rule; for p in 86 bgp static;"
            " do ip -4 route show table all proto $p; ip -6 route show table all proto $p; done"
        )
        return sorted(node(name).run(["sh", "-c", command]).stdout.splitlines())

    def shell_completes(self, name: str, shell: str) -> None:
        """The shell has a completion of srv6ctl, which asks the program."""
        command = [shell, *(["-f"] if shell == "zsh" else []), "-c", COMPLETING[shell]]
        said = node(name).run(command, timeout=60)
        if "rollback" not in said.stdout:
            raise AssertionError(f"{name}: {shell}: {said.stdout!r} {said.stderr!r}")

    def exposure_of(self, name: str, unit: str) -> float:
        """The score of ``systemd-analyze security``, without asking the running system."""
        file = f"/usr/lib/systemd/system/{unit}.service"
        shown = (
            node(name)
            .run(["systemd-analyze", "security", "--offline=true", "--no-pager", file], check=False)
            .stdout
        )
        found = re.search(r"exposure level for \S+: ([0-9.]+)", shown)
        assert found is not None, shown
        return float(found[1])

    def start_bgp(self, *names: str) -> None:
        """What the operator says to FRR."""
        on_all(
            names,
            "sed -i 's/^bgpd=no/bgpd=yes/' /etc/frr/daemons && systemctl restart frr",
        )

    def modules_of_ours(self, name: str) -> dict[str, str]:
        """Revisions of our modules in sysrepo."""
        shown = node(name).run(["sysrepoctl", "--list"]).stdout
        return dict(re.findall(r"^(srv6mgr-\S+) +\| (\S+)", shown, re.M))

    def the_modules_are_those_of_the_packages(self, name: str) -> None:
        """sysrepo has each of our modules in the revision of the file that the package has."""
        command = f"cd {MODULES} && grep -m 1 -E '^  revision ' srv6mgr*.yang"
        shown = node(name).run(["sh", "-c", command]).stdout
        packed = dict(
            re.findall(r"^(srv6mgr[a-z0-9-]*)\.yang: +revision \"?([0-9-]+)", shown, re.M)
        )
        found = self.modules_of_ours(name)
        differ = {
            module: found.get(module) for module in packed if found.get(module) != packed[module]
        }
        if differ or not packed:
            raise AssertionError(f"{name}: sysrepo has {differ}, the package {packed}")

    def files_of_ours(self, name: str) -> list[str]:
        """Files and folders whose names say that they are ours, and are not packages' lists."""
        command = (
            "find / -xdev \\( -path /src -o -path /opt -o -path /lab -o -path /proc \\) -prune -o"
            " \\( -name '*srv6*' -o -name 'gnmid*' -o -name 'netconf-sshd*' \\) -print;"
            " find /run /sys/fs/bpf /sys/class/net -maxdepth 1 -name '*srv6*'"
        )
        return sorted(node(name).run(["sh", "-c", command]).stdout.split())

    def keep_journal(self, *names: str) -> None:
        """The journals of routers that are up, beside the other results."""
        for name in names:
            text = node(name).run(["journalctl", "--no-pager"], check=False).stdout
            folder = Path("/lab/out") / name
            folder.mkdir(exist_ok=True)
            (folder / "journal.log").write_text(text)


def on_all(names: Iterable[str], command: str) -> None:
    """Run a shell line on all nodes at the same time; AssertionError with what one said."""
    running = {
        name: node(name).popen(
            ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )
        for name in names
    }  # fmt: skip
    said = {name: child.communicate()[0] for name, child in running.items()}
    for name, child in running.items():
        if child.returncode:
            raise AssertionError(f"{name}: {command}: {said[name]}")


def show(on: Node, unit: str) -> dict[str, str]:
    wanted = "ActiveState,SubState,NRestarts,MainPID,WatchdogUSec,WatchdogTimestampMonotonic"
    shown = on.run(["systemctl", "show", unit, f"--property={wanted}"]).stdout
    return dict(line.partition("=")[::2] for line in shown.splitlines())
