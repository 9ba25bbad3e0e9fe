"""What doctor says of the host: daemons, certificates, disks, and what causes a finding."""

import socket
from types import SimpleNamespace

import pytest

from srv6mgrd.cli import doctor
from srv6mgrd.cli.doctor import services
from srv6mgrd.cli.doctor.finding import SELF_REPAIR, Level, fail
from srv6mgrd.cli.doctor.host import certificates, host
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.host_conditions.judge import Certificate
from srv6mgrd.model.tunnels import FILE, Tunnel, encode
from srv6mgrd.settings import Settings
from srv6mgrd.single_instance import Holder


def known(*found):
    return SimpleNamespace(found=lambda: list(found))


def test_a_daemon_that_was_killed_is_named(tmp_path):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "gnmi.sock"))
    found = {f.check: f for f in host(Settings(runtime_directory=str(tmp_path)))}
    assert found["daemons"].level is Level.WARN
    assert "srv6-gnmid does not run" in found["daemons"].message
    assert "systemctl start srv6-gnmid" in found["daemons"].remedy


def test_a_certificate_that_ended_in_2020_is_a_failure():
    (found,) = certificates(known(Certificate("/c.pem", "srv6-gnmid", ends=1_600_000_000)))
    assert found.level is Level.FAIL
    assert "ended on 2020-09-13" in found.message
    (found,) = certificates(known(Certificate("/c.pem", "srv6-gnmid", ends=4e9)))
    assert found.level is Level.OK


def test_a_tunnel_that_is_down_is_a_warning(tmp_path):
    settings = Settings(runtime_directory=str(tmp_path))
    assert "tunnels" not in {finding.check for finding in host(settings)}
    up = Tunnel("a:57401", "pe1", True, 1.0)
    (tmp_path / FILE).write_text(encode([up]))
    (found,) = (finding for finding in host(settings) if finding.check == "tunnels")
    assert (found.level, found.message) == (Level.OK, "up: a:57401")
    down = Tunnel("b:57401", "pe1", False, 1.0, "Connection refused; see that it runs")
    (tmp_path / FILE).write_text(encode([up, down]))
    (found,) = (finding for finding in host(settings) if finding.check == "tunnels")
    assert found.level is Level.WARN
    assert (found.message, found.remedy) == (
        "the tunnel to b:57401 is down: Connection refused",
        "see that it runs",
    )


def test_what_an_unprivileged_user_may_not_read_is_skipped():
    denied = Certificate("/c.pem", "srv6-gnmid", is_denied=True)
    (found,) = certificates(known(denied))
    assert found.level is Level.SKIP
    assert "as root" in found.remedy


def test_redis_is_not_blamed_for_a_lack_of_rights(monkeypatch, tmp_path):
    class Denied(socket.socket):
        def connect(self, _):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("srv6mgrd.cli.doctor.services.socket.socket", Denied)
    (found,) = services.redis(str(tmp_path / "redis.sock"))
    assert found.level is Level.SKIP
    assert "as root" in found.remedy


def test_sysrepo_is_not_blamed_for_a_lack_of_rights(monkeypatch, tmp_path):
    def client(_):
        raise Problem.of("sysrepo", "access is denied", "run srv6ctl as root", Exit.DENIED)

    monkeypatch.setattr(Session, "client", client)
    found = list(services.sysrepo(Session(Settings(runtime_directory=str(tmp_path)))))
    assert [f.level for f in found if f.check == "sysrepo"] == [Level.SKIP]


@pytest.mark.parametrize(
    ("holder", "remedy"),
    [
        (Holder(7, "srv6mgrd", is_stopped=True), "let srv6mgrd go on (kill -CONT 7)"),
        (None, "start srv6mgrd"),
        (Holder(7, "srv6mgrd", is_stopped=False), SELF_REPAIR),
    ],
)
def test_a_stopped_srv6mgrd_repairs_nothing(ctl, monkeypatch, holder, remedy):
    ctl.report()
    ctl.managed = holder is not None
    ctl.client.modules = frozenset
    ctl.client.startup = ctl.client.running
    ctl.client.answers = lambda _: True
    monkeypatch.setattr("srv6mgrd.single_instance.holder", lambda: holder)
    monkeypatch.setattr("srv6mgrd.cli.doctor.kernel.probed", dict)
    monkeypatch.setattr(doctor, "_network", lambda *_: [fail("links", "red is down", SELF_REPAIR)])
    ran = ctl.run("doctor", "--json")
    (found,) = (f for f in ran.json["findings"] if f["check"] == "links")
    assert remedy in found["remedy"]
