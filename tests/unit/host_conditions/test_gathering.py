"""What is seen of a host: certificates, daemons, the clock."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from srv6mgrd.host_conditions import daemons, judge, tunnels
from srv6mgrd.host_conditions.certificates import Certificates
from srv6mgrd.host_conditions.clock import Clock
from srv6mgrd.host_conditions.judge import Daemon
from srv6mgrd.host_conditions.validity import not_after
from srv6mgrd.model.tunnels import FILE, Tunnel, encode


def certificate(ends: datetime) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a name that is long" * 3)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=30))
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


@pytest.mark.parametrize("year", [1999, 2020, 2049, 2050, 2051, 9998])
def test_the_end_of_a_certificate(year: int) -> None:
    ends = datetime(year, 3, 1, 12, 30, 59, tzinfo=UTC)
    pem = certificate(ends)
    assert not_after(pem) == ends.timestamp()
    assert not_after(f"text before\n{pem}{certificate(datetime(2030, 1, 1, tzinfo=UTC))}") == (
        ends.timestamp()
    )


def test_what_is_no_certificate() -> None:
    pem = certificate(datetime(2030, 1, 1, tzinfo=UTC))
    head, *body, tail = pem.splitlines()
    for text in ("", "nonsense", head, f"{head}\n{tail}", "\n".join([head, body[0], tail])):
        with pytest.raises(ValueError, match=r"."):
            not_after(text)


def unit(root: Path, name: str, *processes: int, enabled: bool = True) -> None:
    if enabled:
        wants = root / "etc/systemd/system/multi-user.target.wants"
        wants.mkdir(parents=True, exist_ok=True)
        (wants / f"{name}.service").symlink_to("/lib/systemd/system")
    group = root / f"sys/fs/cgroup/system.slice/{name}.service"
    if processes:
        group.mkdir(parents=True)
        (group / "cgroup.procs").write_text("".join(f"{p}\n" for p in processes))


def process(root: Path, number: int, state: str) -> None:
    folder = root / f"proc/{number}"
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{number} (a) b) {state} 1 1")


def test_with_systemd_enabled_units_are_to_run(tmp_path: Path) -> None:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    unit(tmp_path, "srv6-gnmid", 10, 11)
    process(tmp_path, 10, "S")
    process(tmp_path, 11, "T")
    unit(tmp_path, "srv6-netconfd")
    unit(tmp_path, "srv6-configdbd", enabled=False)
    assert daemons.found(tmp_path, tmp_path) == [
        Daemon("srv6-gnmid", True, 11),
        Daemon("srv6-netconfd", False),
    ]


def test_without_systemd_those_whose_sockets_are_there(tmp_path: Path) -> None:
    assert daemons.found(tmp_path) == []
    path = tmp_path / "gnmi.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        root = tmp_path / "root"
        (root / "proc/net").mkdir(parents=True)
        (root / "proc/net/unix").symlink_to("/proc/net/unix")
        assert daemons.found(tmp_path, root) == [Daemon("srv6-gnmid", True)]
    # It was killed: its socket is left behind.
    assert daemons.found(tmp_path, root) == [Daemon("srv6-gnmid", False)]


class Times:
    """A host's clocks."""

    def __init__(self) -> None:
        self.wall, self.steady = 1e9, 100.0
        self.synchronized: bool | None = True
        self.clock = Clock(lambda: self.synchronized, lambda: self.wall, lambda: self.steady)

    def after(self, seconds: float, *, step: float = 0.0) -> str:
        self.steady += seconds
        self.wall += seconds + step
        return self.clock.problem()


def test_a_clock_that_loses_its_synchronization_or_is_set() -> None:
    times = Times()
    assert times.after(2) == ""
    assert "set back by 60 s" in times.after(2, step=-60)
    assert "set back" in times.after(200)
    assert times.after(200) == ""
    times.synchronized = False
    assert "no longer synchronized" in times.after(2)
    times.synchronized = True
    assert times.after(2, step=0.4) == ""


def test_a_host_that_never_was_synchronized_may_do_without() -> None:
    times = Times()
    times.synchronized = False
    assert times.after(2) == ""
    assert times.after(2, step=3600) == ""


def test_a_clock_that_may_not_be_asked_is_still_seen_to_be_set() -> None:
    times = Times()
    times.synchronized = None
    assert times.after(2) == ""
    assert "set forward by 3600 s" in times.after(2, step=3600)


def named(tmp_path: Path, certificate_file: Path) -> Certificates:
    (tmp_path / "gnmid.toml").write_text(f'certificate = "{certificate_file}"\n')
    (tmp_path / "netconf-tls.conf").write_text("# none\ncertificate /nowhere.crt\n")
    return Certificates(tmp_path)


def test_a_certificate_is_read_again_when_it_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "c.pem"
    known = named(tmp_path, file)
    assert [c.problem for c in known.found()] == ["No such file or directory"]
    for year in (2020, 2040):
        ends = datetime(year, 1, 1, tzinfo=UTC)
        fresh = tmp_path / "fresh.pem"
        fresh.write_text(certificate(ends))
        fresh.rename(file)
        (found,) = known.found()
        assert (found.ends, found.northbound) == (ends.timestamp(), "srv6-gnmid")


def test_the_certificate_for_metrics_is_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "m.pem"
    ends = datetime(2040, 1, 1, tzinfo=UTC)
    file.write_text(certificate(ends))
    (tmp_path / "srv6-metricsd.toml").write_text(f'certificate = "{file}"\n')
    (found,) = Certificates(tmp_path).found()
    assert (found.ends, found.northbound) == (ends.timestamp(), "srv6-metricsd")


def test_of_a_certificate_that_may_not_be_read_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("srv6mgrd.host_conditions.certificates.read_text", denied)
    found = named(tmp_path, tmp_path / "c.pem")._of_gnmi()
    assert list(found.values()) == ["srv6-gnmid"]
    (known,) = named(tmp_path, tmp_path / "c.pem").found()
    assert known.is_denied
    assert not list(judge.certificates([known], 1e9))


def test_tunnels_are_those_that_gnmid_reports(tmp_path: Path) -> None:
    assert tunnels.found(tmp_path) == []
    (tmp_path / FILE).write_text("[]")
    assert tunnels.found(tmp_path) == []
    seen = [Tunnel("collector:57401", "pe1", False, 5.0, "nothing answers there", 0)]
    (tmp_path / FILE).write_text(encode(seen))
    assert tunnels.found(tmp_path) == seen


def test_the_certificate_for_tunnels_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "gnmid.toml").write_text('tunnel_certificate = "/t.crt"\n')
    assert [found.file for found in Certificates(tmp_path).found()] == ["/t.crt"]
