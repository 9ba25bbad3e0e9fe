"""Rotation of certificates: what can't be used leaves the last good one in service."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from srv6mgrd.clients.certificate_files import CertificateFiles, files
from srv6mgrd.settings import SettingsError


def made(place: Path) -> tuple[bytes, bytes]:
    certificate, key = files("", "", str(place))
    return certificate.read_bytes(), key.read_bytes()


def test_the_last_good_certificate_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = made(tmp_path / "1"), made(tmp_path / "2")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(first[0])
    key.write_bytes(first[1])
    bundle = CertificateFiles(certificate, key, None)
    assert bundle.read() is not None
    assert bundle.fresh() is None
    caplog.clear()
    with caplog.at_level(logging.INFO):
        certificate.write_bytes(second[0])  # its key is still to come
        assert bundle.fresh() is None
        assert bundle.fresh() is None
        assert [r.message for r in caplog.records] == [
            f"{key}: not the key of {certificate}; replace both files; the last good certificate"
            " stays in service"
        ]
        key.write_bytes(b"-----BEGIN")
        assert bundle.fresh() is None
        key.unlink()
        assert bundle.fresh() is None
        key.write_bytes(second[1])
        assert bundle.fresh() is not None
        assert bundle.fresh() is None
    assert caplog.records[-1].message == f"{certificate}: a new certificate is in service"


def test_a_first_certificate_must_be_good(tmp_path: Path) -> None:
    certificate, key = made(tmp_path)
    files_ = tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt"
    for path, content in zip(files_, (certificate, key, b"nothing"), strict=True):
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"ca\.crt: no PEM file"):
        CertificateFiles(*files_).read()
    files_[2].write_bytes(certificate)
    assert CertificateFiles(*files_).read() is not None
