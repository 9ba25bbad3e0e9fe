"""Certificates for TLS: an authority, and what it signs."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files, and the fingerprint as RFC 7407 has it."""

    file: Path
    key: Path
    content: Any

    @property
    def fingerprint(self) -> str:
        return f"04:{self.content.fingerprint(hashes.SHA256()).hex(':').upper()}"


class Authority:
    """Signs; its own certificate is ``certificate``, which ``above`` has signed or itself."""

    def __init__(self, place: Path, name: str, above: Authority | None = None) -> None:
        self._place = place
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = above or self
        made = (
            signer._builder(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_SIGNS, critical=True)
            .sign(signer._key, hashes.SHA256())
        )
        self.certificate = _written(place, name, made, self._key)

    def sign(
        self,
        common_name: str,
        *alternatives: x509.GeneralName,
        file: str = "",
        begin: timedelta = -DAY,
        end: timedelta = DAY,
    ) -> Certificate:
        """A certificate valid from ``begin`` to ``end``, both from now. Without a common name it
        needs a ``file``."""
        key = ec.generate_private_key(ec.SECP256R1())
        named = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)] if common_name else []
        subject = x509.Name(named)
        builder = self._builder(subject, key, begin, end)
        if alternatives:
            names = x509.SubjectAlternativeName(alternatives)
            builder = builder.add_extension(names, critical=False)
        made = builder.sign(self._key, hashes.SHA256())
        return _written(self._place, file or common_name, made, key)

    def server(self) -> Certificate:
        local = [x509.IPAddress(ipaddress.ip_address(at)) for at in ("127.0.0.1", "::1")]
        return self.sign("router", x509.DNSName("localhost"), *local)

    def revoke(self, *certificates: Certificate, until: timedelta = DAY) -> Path:
        """The list of revoked certificates, to be replaced ``until`` from now."""
        now = datetime.now(UTC)
        builder = x509.CertificateRevocationListBuilder().issuer_name(self._name)
        builder = builder.last_update(now - 2 * DAY).next_update(now + until)
        for certificate in certificates:
            revoked = x509.RevokedCertificateBuilder().serial_number(
                certificate.content.serial_number
            )
            builder = builder.add_revoked_certificate(revoked.revocation_date(now - DAY).build())
        path = self._place / "revoked.pem"
        made = builder.sign(self._key, hashes.SHA256())
        # Servers read it whenever they like.
        fresh = path.with_suffix(".new")
        fresh.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return fresh.rename(path)

    def _builder(
        self, subject: Any, key: Any, begin: timedelta = -DAY, end: timedelta = DAY
    ) -> Any:
        now = datetime.now(UTC)
        ours = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begin)
            .not_valid_after(now + end)
            .add_extension(ours, critical=False)
            .add_extension(own, critical=False)
        )


def _written(place: Path, name: str, made: Any, key: Any) -> Certificate:
    file, secret = place / f"{name}.crt", place / f"{name}.key"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return Certificate(file, secret, made)
