"""The services a router node can have: as data, with what each needs before it starts."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.guest.nodes import Node
from lab.problem import LabError

REDIS_CONFIG = """port 0
unixsocket /run/redis/redis.sock
unixsocketperm 770
save ""
appendonly no
notify-keyspace-events AKE
daemonize no
databases 16
"""
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"
# Debian's FRR with frr-patches, where `make frr` has built it.
PATCHED_FRR = Path("/opt/frr/root")
# Below which the FRR lies that nodes run: the distribution's, unless FRR_ROOT names another one.
STOCK_FRR = Path("/")
FRR_ROOT = Path(os.environ.get("FRR_ROOT", STOCK_FRR))
FRR_PROGRAMS = ("/usr/lib/frr", "/usr/lib/x86_64-linux-gnu/frr", "/usr/bin/vtysh")
FRR_DAEMONS = ("mgmtd", "zebra", "bgpd", "staticd")
# As the outer namespace still has it; a node on which it differs was given one to start with.
PACKAGED_FRR_CONFIG = Path("/etc/frr/frr.conf")
FRR_CONFIG = "frr defaults datacenter\n"
# As the package's drop-in of frr.service has it: bgpd takes two descriptors for each VRF.
# watchfrr waits 60 to 600 s before it starts a daemon that died twice within a minute.
FRR_FILE = """bgpd=yes
vtysh_enable=yes
zebra_options="  -A 127.0.0.1 -s 90000000"
mgmtd_options="  -A 127.0.0.1"
bgpd_options="   -A 127.0.0.1 -p 179"
staticd_options="-A 127.0.0.1"
frr_profile="datacenter"
watchfrr_options="--min-restart-interval 2 --max-restart-interval 10"
MAX_FDS=16384
"""

Prepare = Callable[[Node, "Service"], None]
Ready = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Service:
    """What to run and how to see that it is ready; ready None: it says so itself (notify)."""

    name: str
    argv: tuple[str, ...]
    ready: Ready | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Prepare | None = None
    stop_argv: tuple[str, ...] = ()
    # False: argv ends by itself, leaving daemons behind or nothing at all.
    stays: bool = True
    timeout: float = 30.0


def log_file(node: str, service: str) -> Path:
    return Path(os.environ.get("LAB_OUT", "/lab/out")) / node / f"{service}.log"


def _succeeds(*argv: str) -> Ready:
    return lambda node: node.run(argv, check=False).returncode == 0


def _prepare_redis(node: Node, _: Service) -> None:
    node.run(["mkdir", "-p", "/run/redis"])
    node.write_file("/etc/redis/lab.conf", REDIS_CONFIG)


def use_frr(node: Node, root: Path) -> None:
    """Have a node run the FRR below ``root`` from its next start on."""
    for place in FRR_PROGRAMS if root != STOCK_FRR else ():
        if node.run(["mountpoint", "-q", place], check=False).returncode:
            node.run(["mount", "--bind", f"{root}{place}", place])


def _prepare_frr(node: Node, _: Service) -> None:
    use_frr(node, FRR_ROOT)
    node.write_file("/etc/frr/daemons", FRR_FILE)
    node.write_file("/etc/frr/vtysh.conf", "service integrated-vtysh-config\n")
    config = node.read_file("/etc/frr/frr.conf")
    if config == PACKAGED_FRR_CONFIG.read_text():
        config = f"{FRR_CONFIG}hostname {node.name}\n"
    log = log_file(node.name, "frr").with_name("frr-daemons.log")
    log.touch()
    log.chmod(0o666)
    if "log file" not in config:
        config = f"{config.rstrip()}\nlog file {log}\n"
    node.write_file("/etc/frr/frr.conf", config)
    node.run(["chown", "-R", "frr:frr", "/etc/frr"])


def _frr_ready(node: Node) -> bool:
    """Each daemon listens at its vty; vtysh would take 0.2 s to ask one of them."""
    return all(_answers(node.path(f"/run/frr/{daemon}.vty")) for daemon in FRR_DAEMONS)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _prepare_sysrepo(node: Node, _: Service) -> None:
    if not Path("/opt/sysrepo/repository").is_dir():
        raise LabError(
            f"{node.name}: sysrepo", "no repository of YANG modules was prepared",
            "the checkout has no yang/install.txt",
        )  # fmt: skip


def _prepare_group(node: Node, _: Service) -> None:
    """The group of the northbounds' sockets, which the packages make."""
    node.run(["groupadd", "--system", "--force", "srv6mgr"])
    node.run(["mkdir", "-p", "/run/srv6mgr"])


def _prepare_sshd(node: Node, _: Service) -> None:
    node.run(["mkdir", "-p", "/run/sshd"])
    if node.run(["test", "-e", HOST_KEY], check=False).returncode:
        node.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", HOST_KEY])


# Tests check which thread uses what (srv6mgrd/threads.py).
_CHECKED = {"SRV6MGR_CHECK_THREADS": "1"}

SERVICES: dict[str, Service] = {
    service.name: service
    for service in (
        Service(
            "redis", ("redis-server", "/etc/redis/lab.conf"),
            ready=_succeeds("redis-cli", "-s", "/run/redis/redis.sock", "-e", "ping"),
            prepare=_prepare_redis,
        ),
        Service(
            "frr", ("/usr/lib/frr/frrinit.sh", "start"), ready=_frr_ready, stays=False,
            prepare=_prepare_frr, stop_argv=("/usr/lib/frr/frrinit.sh", "stop"), timeout=60,
        ),
        Service(
            "sysrepo", ("cp", "-aT", "/opt/sysrepo/repository", "/etc/sysrepo"),
            ready=_succeeds("test", "-e", "/etc/sysrepo/sr_main_lock"),
            prepare=_prepare_sysrepo, stays=False,
        ),
        Service("srv6mgrd", ("/opt/srv6mgr/bin/srv6mgrd",), prepare=_prepare_group, env=_CHECKED),
        Service(
            "srv6-gnmid", ("/opt/srv6mgr/bin/srv6-gnmid",), prepare=_prepare_group, env=_CHECKED
        ),
        Service("srv6-stampd", ("/opt/srv6mgr/bin/srv6-stampd",), env=_CHECKED),
        Service(
            "srv6-metricsd", ("/opt/srv6mgr/bin/srv6-metricsd",), prepare=_prepare_group,
            env=_CHECKED,
        ),
        Service("srv6-configdbd", ("/opt/srv6mgr/bin/srv6-configdbd",), env=_CHECKED),
        Service("srv6-orchagent", ("/opt/srv6mgr/bin/srv6-orchagent",)),
        Service(
            "srv6-netconfd", ("/opt/netconfd/srv6-netconfd",), prepare=_prepare_group,
        ),
        Service(
            "sshd", ("/usr/sbin/sshd", "-D", "-e", "-f", "/src/netconfd/sshd.conf"),
            ready=_succeeds("nc", "-z", "::1", "830"), prepare=_prepare_sshd,
        ),
        # With the settings that its package starts it with.
        Service(
            "prometheus", ("/usr/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml",
            "--storage.tsdb.path=/var/lib/prometheus/metrics2"),
            ready=_succeeds("nc", "-z", "127.0.0.1", "9090"),
        ),
    )
}  # fmt: skip


def service_named(name: str) -> Service:
    try:
        return SERVICES[name]
    except KeyError:
        raise LabError(f"service {name}", "unknown", f"known: {', '.join(SERVICES)}") from None
