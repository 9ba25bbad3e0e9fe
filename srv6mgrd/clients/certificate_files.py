"""Certificate files of the operator, or a self-signed one for the first steps."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from srv6mgrd.settings import SettingsError

if TYPE_CHECKING:
    from cryptography.x509 import GeneralName

_LOG = logging.getLogger(__name__)


class Contents(NamedTuple):
    """PEM: certificate, key and, for mutual TLS, the authorities of the clients."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None


class CertificateFiles:
    """Certificate, key and, for mutual TLS, the authority of the clients."""

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None) -> None:
        self._paths = (certificate, key, client_ca)
        self._seen: Contents | None = None
        self._problem = ""

    def read(self) -> Contents:
        """Raises SettingsError when the files can't be used."""
        certificate, key, client_ca = self._paths
        found = Contents(_read(certificate), _read(key), _read(client_ca) if client_ca else None)
        self._check(*found)
        self._seen = found
        return found

    def fresh(self) -> Contents | None:
        """For a new connection; None keeps what is in service."""
        before = self._seen
        try:
            found = self.read()
        except SettingsError as e:
            if str(e) != self._problem:  # once, not for each connection
                self._problem = str(e)
                _LOG.error("%s; the last good certificate stays in service", e)
            return None
        self._problem = ""
        if self._seen == before:
            return None
        _LOG.info("%s: a new certificate is in service", self._paths[0])
        return found

    def _check(self, certificate: bytes, key: bytes, client_ca: bytes | None) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        if (certificate, key, client_ca) == self._seen:
            return
        at = self._paths[0]
        try:
            first = x509.load_pem_x509_certificates(certificate)[0]
            at = self._paths[1]
            private = load_pem_private_key(key, None)
            if client_ca is not None and self._paths[2] is not None:
                at = self._paths[2]
                x509.load_pem_x509_certificates(client_ca)
        except (ValueError, TypeError) as e:
            raise SettingsError(f"{at}: no PEM file that can be used ({e}); correct it") from None
        if private.public_key() != first.public_key():
            raise SettingsError(
                f"{self._paths[1]}: not the key of {self._paths[0]}; replace both files"
            )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise SettingsError(f"{path}: {e.strerror}; correct the path or its permissions") from None


def files(certificate: str, key: str, state_directory: str) -> tuple[Path, Path]:
    """Certificate and key; made in ``state_directory`` when the settings name none."""
    if certificate:
        return Path(certificate), Path(key)
    return _self_signed(Path(state_directory))


def _self_signed(directory: Path) -> tuple[Path, Path]:
    certificate, key = directory / "selfsigned.crt", directory / "selfsigned.key"
    if not (certificate.exists() and key.exists()):
        _make(certificate, key)
    _LOG.warning(
        "%s: self-signed certificate in use; set certificate and key for real service",
        certificate,
    )
    return certificate, key


def _make(certificate: Path, key: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    host = socket.gethostname() or "srv6mgr"
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    names: list[GeneralName] = [x509.DNSName(n) for n in dict.fromkeys((host, "localhost"))]
    names += [x509.IPAddress(ipaddress.ip_address(a)) for a in ("127.0.0.1", "::1")]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=825))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(private, hashes.SHA256())
    )
    certificate.parent.mkdir(parents=True, exist_ok=True)
    _write(
        key,
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        0o600,
    )
    _write(certificate, made.public_bytes(serialization.Encoding.PEM), 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as f:
        f.write(content)
    fresh.rename(path)
