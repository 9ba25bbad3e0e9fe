"""A password that is looked for wherever a router could show it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from robot.api.deco import library

from examples.gnmi import GnmiError
from lab.waiting import wait_until
from tests.robot.library.gnmi import SRV6, Session, session
from tests.robot.library.network import node, router

# What all secrets begin with: a key of OSPFv2 has no more than 16 characters.
MARKER = "Marker-of-a"
NEIGHBOR = "vrfs/vrf[name=red]/bgp/neighbor[address=10.1.0.10]"
SERVICES = ("srv6mgrd", "srv6-gnmid", "srv6-netconfd", "redis", "sysrepo")
# A user without any right; its search meets what it may not open and goes on.
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--")
PLACES = "/dev/shm /run /tmp /etc/frr /etc/srv6mgr /etc/sysrepo /var/lib/srv6mgr /var/log"
# Those that ask FRR and Redis, too; tests/contract/cli has all.
COMMANDS = ("doctor", "diff", "show vrfs", "show ospf", "show paths", "show transactions")
DATABASES = (0, 2, 4, 6)  # APPL_DB, COUNTERS_DB, CONFIG_DB, STATE_DB
_RED = f"{SRV6}/vrfs/vrf[name=red]"
_OSPF = {2: "ospf", 3: "ospfv3"}
_STAMP = f"{SRV6}/srv6mgr-path-measurement:path-measurement"
# What a reader of these, who may not read secrets, has nonetheless: by gNMI and by NETCONF.
_READ = {
    "OSPF": (_RED, "srv6mgr-ospf:ospfv3", "<ospfv3 "),
    "STAMP": (_STAMP, "destination-address", "<path-measurement "),
}
# A user's own client of NETCONF, in the framing of version 1.0.
_GET = """
import socket
BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
hello = f"<capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities>"
with socket.socket(socket.AF_UNIX) as session:
    session.connect("/run/srv6mgr/netconf.sock")
    for request in (f"<hello xmlns='{BASE}'>{hello}</hello>",
                    f"<rpc xmlns='{BASE}' message-id='1'><get/></rpc>"):
        session.sendall(f"{request}]]>]]>".encode())
        got = b""
        while not got.endswith(b"]]>]]>"):
            got += session.recv(1 << 16) or exit(1)
print(got.decode())
"""
ALL_ROWS = """
local shown = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    shown[#shown + 1] = key
    if redis.call('TYPE', key).ok == 'hash' then
        shown[#shown + 1] = table.concat(redis.call('HGETALL', key), ' ')
    end
end
return table.concat(shown, '\\n')
"""


@library(scope="GLOBAL", auto_keywords=True)
class Secrets:
    """Steps of the suite fortress.secrets."""

    def set_password(self, name: str, suffix: str = "") -> None:
        """Declare a neighbor with the password."""
        session(name).set(
            update=[
                (
                    f"/srv6mgr-srv6:srv6/{NEIGHBOR}",
                    {"remote-as": 65100, "password": f"{MARKER}-secret{suffix}"},
                )
            ]
        )

    def set_keys(self, name: str, suffix: str = "") -> None:
        """Declare OSPF and OSPFv3 with a key each."""
        session(name).set(
            update=[
                (
                    f"{_RED}/srv6mgr-ospf:{protocol}",
                    {
                        "router-id": "10.0.0.1",
                        "interface": [
                            {
                                "name": "to-ce-red",
                                "authentication": {"key-id": 7, "password": _key(version, suffix)},
                            }
                        ],
                    },
                )
                for version, protocol in _OSPF.items()
            ]
        )

    def delete_keys(self, name: str) -> None:
        """OSPF and OSPFv3 with their keys."""
        session(name).set(delete=[f"{_RED}/srv6mgr-ospf:{each}" for each in _OSPF.values()])

    def set_stamp_keys(self, name: str, peer: str, suffix: str = "") -> None:
        """Declare a path that is measured with a key, and the reflector at its other end."""
        key = {"authentication": {"keystring": f"{MARKER}-{suffix or 'key'}-of-stamp"}}
        reflector = {"allowed-prefix": ["2001:db8::1/128"], **key}
        session(peer).set(update=[(f"{_STAMP}/reflector", reflector)])
        one = {"destination-address": "2001:db8::2", "interval": 20, **key}
        session(name).set(update=[(f"{_STAMP}/session[name=secret]", one)])

    def delete_stamp_keys(self, *names: str) -> None:
        """Measure nothing any more."""
        for name in names:
            session(name).set(delete=[_STAMP])

    def stamp_path_is(self, name: str, wanted: str, timeout: float = 30) -> None:
        """Wait for the state of the path: up only where both ends have the same key."""

        def state() -> str:
            try:
                return json.dumps(session(name).get(f"{_STAMP}/session[name=secret]/state"))
            except GnmiError as error:
                return str(error)  # it is not measured yet

        wait_until(
            lambda: f'path-state": "{wanted}"' in state(), f"{name}: the path is {wanted}",
            timeout, 0.2, seen=state,
        )  # fmt: skip

    def frr_has_keys(self, name: str, suffix: str = "", timeout: float = 30) -> None:
        """Wait until ospfd and ospf6d are configured with them."""
        wanted = {
            f"ip ospf message-digest-key 7 md5 {_key(2, suffix)}",
            f"ipv6 ospf6 authentication key-id 7 hash-algo hmac-sha-256 key {_key(3, suffix)}",
        }

        def lines() -> set[str]:
            shown = node(name).run(["vtysh", "-c", "show running-config"]).stdout
            return {line.strip() for line in shown.splitlines()}

        what = f"{name}: ospfd and ospf6d have their keys"
        wait_until(lambda: wanted <= lines(), what, timeout, 0.2)

    def frr_has_password(self, name: str, suffix: str = "", timeout: float = 20) -> None:
        """Wait until bgpd is configured with it."""
        wanted = f"neighbor 10.1.0.10 password {MARKER}-secret{suffix}"
        wait_until(
            lambda: (
                wanted in node(name).run(["vtysh", "-c", "show running-config"]).stdout.splitlines()
                or f" {wanted}" in node(name).run(["vtysh", "-c", "show running-config"]).stdout
            ),
            f"{name}: bgpd has the password",
            timeout,
            0.2,
        )

    def no_user_finds_password(self, name: str) -> None:
        """Neither in files nor in the command lines of processes."""
        found = node(name).run(
            [*NOBODY, "sh", "-c", f"grep -rlaFs {MARKER} {PLACES}; ps axww | grep -F {MARKER}"
             " | grep -v grep"], check=False, timeout=60,
        )  # fmt: skip
        if found.stdout.strip():
            raise AssertionError(f"{name}: a user finds the password: {found.stdout}")

    def no_shared_memory_is_open_to_all(self, name: str) -> None:
        """What passes between sysrepo's processes is for its group."""
        listed = node(name).run(
            ["find", "/dev/shm", "-name", "*sub_*", "-perm", "/007"], check=False
        )
        if listed.stdout.strip():
            raise AssertionError(f"{name}: open to all users: {listed.stdout}")
        there = node(name).run(["find", "/dev/shm", "-name", "*sub_*"]).stdout.split()
        if not there:
            raise AssertionError(f"{name}: sysrepo has no shared memory where it is looked for")

    def no_log_has_password(self, name: str) -> None:
        """Neither our logs nor those of FRR, Redis and sysrepo."""
        folder = Path("/lab/out") / name
        texts = {file.name: file.read_text(errors="replace") for file in folder.glob("*.log")}
        if not texts.get("srv6mgrd.log"):
            raise AssertionError(f"{name}: there is no log to search in {folder}")
        if found := [file for file, text in texts.items() if MARKER in text]:
            raise AssertionError(f"{name}: the password is in {found}")

    def no_command_prints_password(self, name: str) -> None:
        """Commands of srv6ctl, by root."""
        for command in COMMANDS:
            done = node(name).run(["srv6ctl", *shlex.split(command)], check=False, timeout=60)
            if MARKER in done.stdout + done.stderr:
                raise AssertionError(f"{name}: srv6ctl {command}: {done.stdout}{done.stderr}")

    def support_bundle_has_no_password(self, name: str) -> None:
        """In no file of it."""
        archive, on = "/root/of-the-suite.tar.gz", node(name)
        on.run(["srv6ctl", "support-bundle", archive], timeout=120)
        try:
            shown = on.run(["tar", "-xzOf", archive]).stdout
        finally:
            on.run(["rm", archive])
        if "secrets were removed" not in shown.lower():
            raise AssertionError(f"{name}: this is no support bundle: {shown[:200]}")
        if MARKER in shown:
            raise AssertionError(f"{name}: the password is in the support bundle")

    def northbounds_show_no_password(self, name: str, user: str, of: str = "OSPF") -> None:
        """gNMI and NETCONF, to a user who may read all but secrets."""
        path, *visible = _READ[of]
        client = Session(node(name), user=user)
        try:
            read = json.dumps(client.get(path))
        finally:
            client.end()
        command = ["runuser", "-u", user, "--", "python3", "-c", _GET]
        read += node(name).run(command, timeout=60).stdout
        for there in (*visible, "</rpc-reply>"):
            if there not in read:
                raise AssertionError(f"{name}: {user} does not read {there}: {read[:2000]}")
        if MARKER in read:
            raise AssertionError(f"{name}: {user} reads the password")

    def redis_has_no_password(self, name: str) -> None:
        """In no key and no row."""
        command = ["redis-cli", "-s", "/run/redis/redis.sock", "-n"]
        shown = "".join(
            node(name).run([*command, str(number), "EVAL", ALL_ROWS, "0"]).stdout
            for number in DATABASES
        )
        if "SRV6" not in shown:
            raise AssertionError(f"{name}: Redis shows nothing: {shown[:200]}")
        if MARKER in shown:
            raise AssertionError(f"{name}: the password is in Redis")

    def log_says(self, name: str, service: str, words: str, timeout: float = 20) -> None:
        """Wait for words in the log of a service."""
        wait_until(
            lambda: words in router(name).log(service), f"{name}: {service} says {words}",
            timeout, 0.1, seen=lambda: router(name).log(service)[-500:],
        )  # fmt: skip


def _key(version: int, suffix: str) -> str:
    return f"{MARKER}-{suffix or 'key'}{version}"
