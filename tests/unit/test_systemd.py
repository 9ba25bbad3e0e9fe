"""What the service manager hears."""

import socket

from srv6mgrd.systemd import notify


def test_it_is_told(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)

        notify("READY=1")

        assert manager.recv(100) == b"READY=1"


def test_one_that_no_longer_listens_is_let_be(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))

    notify("STOPPING=1")

    assert "STOPPING=1" in caplog.text
