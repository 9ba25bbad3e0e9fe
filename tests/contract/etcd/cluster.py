"""A cluster of etcd with TLS and passwords, whose members can be killed, cut off and brought
back."""

from __future__ import annotations

import ipaddress
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509

from lab.unpacked import home
from lab.waiting import wait_until
from srv6net.store.address import EtcdAddress
from tests.contract.certificates import Authority

PROGRAMS = Path(home("etcd")) / "usr/bin"
MEMBERS = 3
USER, PASSWORD = "srv6net", "correct horse"
_BRIDGE = "etcd"
_NETWORK = "10.86.0"


class Member:
    """An etcd in a network namespace."""

    def __init__(self, number: int, folder: Path, authority: Authority) -> None:
        self.name, self.ip = f"etcd{number}", f"{_NETWORK}.{number}"
        self.folder = folder / self.name
        self.folder.mkdir()
        address = x509.IPAddress(ipaddress.ip_address(self.ip))
        made = authority.sign(self.name, address)
        self._tls = [
            f"--cert-file={made.file}", f"--key-file={made.key}",
            f"--peer-cert-file={made.file}", f"--peer-key-file={made.key}",
            f"--peer-trusted-ca-file={authority.certificate.file}", "--peer-client-cert-auth",
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        _ip("netns", "add", self.name)
        _ip("link", "add", self.name, "type", "veth", "peer", "eth0", "netns", self.name)
        _ip("link", "set", self.name, "master", _BRIDGE, "up")
        _ip("-n", self.name, "address", "add", f"{self.ip}/24", "dev", "eth0")
        _ip("-n", self.name, "link", "set", "eth0", "up")
        _ip("-n", self.name, "link", "set", "lo", "up")

    def start(self, members: str) -> None:
        command = [
            "ip", "netns", "exec", self.name, str(PROGRAMS / "etcd"), f"--name={self.name}",
            f"--data-dir={self.folder / 'data'}", "--initial-cluster-state=new",
            f"--initial-cluster={members}", f"--initial-advertise-peer-urls={self.peer_url}",
            f"--listen-peer-urls={self.peer_url}", f"--listen-client-urls=https://{self.ip}:2379",
            f"--advertise-client-urls=https://{self.ip}:2379", "--unsafe-no-fsync", *self._tls,
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def cut_off(self) -> None:
        _ip("link", "set", self.name, "down")

    def reconnect(self) -> None:
        _ip("link", "set", self.name, "up")

    def remove(self) -> None:
        self.kill()
        _ip("link", "delete", self.name)
        _ip("netns", "delete", self.name)

    @property
    def peer_url(self) -> str:
        return f"https://{self.ip}:2380"


class Cluster:
    """``first``: the lowest number of its members, where there are other clusters."""

    def __init__(self, folder: Path, first: int = 1) -> None:
        self._folder = folder
        self.authority = Authority(folder, "ca")
        self._make_bridge()
        numbers = range(first, first + MEMBERS)
        self.members = [Member(number, folder, self.authority) for number in numbers]
        self._all = ",".join(f"{m.name}={m.peer_url}" for m in self.members)
        (folder / "password").write_text(PASSWORD)

    def __enter__(self) -> Self:
        for member in self.members:
            member.start(self._all)
        self.wait()
        self._demand_passwords()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for member in self.members:
            member.remove()

    def start(self, member: Member) -> None:
        member.start(self._all)

    def address(self, prefix: str, user: str = USER) -> EtcdAddress:
        return EtcdAddress(
            tuple(f"{member.ip}:2379" for member in self.members),
            prefix,
            ca=str(self.authority.certificate.file),
            user=user,
            password_file=str(self._folder / "password"),
        )

    def wait(self) -> None:
        """Until each member has a leader and answers."""
        for member in self.members:
            wait_until(
                lambda one=member: self.control("endpoint", "health", at=one).returncode == 0,
                timeout=30,
                seen=lambda one=member: (one.folder / "log").read_text()[-2000:],
            )

    def leader(self) -> Member:
        """The one that leads the others."""
        for member in self.members:
            said = self.control("endpoint", "status", "-w", "fields", at=member).stdout
            fields = dict(line.split('" : ', 1) for line in said.splitlines() if '" : ' in line)
            if fields.get('"MemberID') == fields.get('"Leader'):
                return member
        raise AssertionError("no member leads")

    def control(self, *words: str, at: Member | None = None) -> subprocess.CompletedProcess[str]:
        where = at or self.members[0]
        command = [
            str(PROGRAMS / "etcdctl"),
            f"--endpoints=https://{where.ip}:2379",
            f"--cacert={self.authority.certificate.file}",
            "--user=root:root",
            *words,
        ]
        environment = {**os.environ, "ETCDCTL_API": "3"}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=30
        )

    def _demand_passwords(self) -> None:
        for words in (
            ("user", "add", "root:root"),
            ("user", "grant-role", "root", "root"),
            ("role", "add", USER),
            ("role", "grant-permission", "--prefix=true", USER, "readwrite", "/srv6net"),
            ("user", "add", f"{USER}:{PASSWORD}"),
            ("user", "grant-role", USER, USER),
            ("auth", "enable"),
        ):
            done = self.control(*words)
            assert done.returncode == 0, (words, done.stderr)

    @staticmethod
    def _make_bridge() -> None:
        if subprocess.run(
            ["ip", "link", "show", _BRIDGE], capture_output=True, check=False
        ).returncode:
            _ip("link", "add", _BRIDGE, "type", "bridge")
            _ip("address", "add", f"{_NETWORK}.254/24", "dev", _BRIDGE)
            _ip("link", "set", _BRIDGE, "up")
        # Members of an earlier cluster had the same addresses.
        _ip("neighbor", "flush", "dev", _BRIDGE)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
