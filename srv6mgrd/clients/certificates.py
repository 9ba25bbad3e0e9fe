"""Whose a client's certificate is: its names, the authority above it, and revocation.

gRPC for Python verifies a certificate once, when a connection begins, and knows no CRL. Here it is
judged with each RPC, by the files as they are now: a revoked certificate, one that has expired or
whose authority was removed ends with its next RPC, also on a connection that is open.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from srv6mgrd.clients.denied import NotAuthenticatedError
from srv6mgrd.settings import SettingsError

if TYPE_CHECKING:
    from cryptography import x509

# Of RFC 7407 (ietf-x509-cert-to-name); URIs are those of SPIFFE, say.
NAME_TYPES = ("common-name", "san-rfc822-name", "san-dns-name", "san-uri")

_LOG = logging.getLogger(__name__)
_MOST_CERTIFICATES = 1000
_DEEPEST = 8
_LONGEST_NAME = 256
_FOREVER = datetime.max.replace(tzinfo=UTC)

# Under no rules of NACM's (RFC 8341 section 2.4).
_RECOVERY = "root"

# As gRPC names the certificates that a client shows.
AuthContext = Mapping[str, Iterable[bytes]]
Some = TypeVar("Some")


class Watched(Generic[Some]):
    """What a file holds, read again when it is another one; what can't be used is left out."""

    def __init__(self, path: Path, parse: Callable[[bytes], Some]) -> None:
        """Raises SettingsError when the file can't be used."""
        self._path, self._parse = path, parse
        self._problem = ""
        self._seen = self._stamp()
        self._content = self._load()

    def now(self) -> Some:
        """The content; that of before while the file can't be used, which is logged."""
        try:
            stamp = self._stamp()
            if stamp == self._seen:
                return self._content
            self._seen = stamp
            self._content = self._load()
        except SettingsError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                _LOG.error("%s; what it held before stays in use", error)
        else:
            self._problem = ""
            _LOG.info("%s: its new content is in use", self._path)
        return self._content

    def _load(self) -> Some:
        try:
            return self._parse(self._path.read_bytes())
        except OSError as e:
            raise SettingsError(
                f"{self._path}: {e.strerror}; correct the path or its permissions"
            ) from None
        except ValueError as e:
            raise SettingsError(
                f"{self._path}: no PEM file that can be used ({e}); correct it"
            ) from None

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = os.stat(self._path)
        except OSError as e:
            raise SettingsError(
                f"{self._path}: {e.strerror}; correct the path or its permissions"
            ) from None
        return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass(slots=True)
class _Known:
    """What was found out of a certificate, and by which authorities and CRLs."""

    names: tuple[str, ...]
    subject: str
    chain: tuple[x509.Certificate, ...]
    files: tuple[object, object] = (None, None)
    verdict: Verdict | None = None


class Certificates:
    """Judges the certificates of clients."""

    def __init__(self, client_ca: str, names: Sequence[str], crl: str = "") -> None:
        """``names`` are of ``NAME_TYPES``. Raises SettingsError when a file can't be
        used."""
        from cryptography import x509

        self._names = tuple(names)
        self._authorities = Watched(Path(client_ca), x509.load_pem_x509_certificates)
        self._crls = Watched(Path(crl), read_crls) if crl else None
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    def user(self, auth_context: AuthContext) -> str | None:
        """The user whose certificate the client shows, None when it shows none. Raises
        NotAuthenticatedError for one that gives no user, or is no longer valid."""
        (pem,) = tuple(auth_context.get("x509_pem_cert", ())) or (b"",)
        if not pem:
            return None
        known = self._known.get(pem)
        if known is None:
            known = self._read(pem, auth_context)
        self._judge(known)
        if not known.names:
            raise _denied(
                known.subject,
                f"it has no {' or '.join(self._names)} that can be a user's name; issue one that"
                " has, or set certificate_names",
            )
        if known.names[0] == _RECOVERY:
            raise _denied(
                known.subject,
                "root is under no rules, so no certificate makes a client root; name another user"
                " and give it a NACM rule",
            )
        return known.names[0]

    def _read(self, pem: bytes, auth_context: AuthContext) -> _Known:
        from cryptography import x509

        own = x509.load_pem_x509_certificate(pem)
        more: list[x509.Certificate] = []
        for text in auth_context.get("x509_pem_cert_chain", ()):
            more += x509.load_pem_x509_certificates(text)
        found = _Known(
            tuple(name for kind in self._names for name in names(own, kind)),
            own.subject.rfc4514_string() or "(no subject)",
            (own, *(c for c in more if c != own)),
        )
        self._known[pem] = found
        while len(self._known) > _MOST_CERTIFICATES:
            self._known.popitem(last=False)
        return found

    def _judge(self, known: _Known) -> None:
        authorities = self._authorities.now()
        crls = self._crls.now() if self._crls is not None else None
        verdict = known.verdict
        files = authorities, crls
        # Comparing what the files hold would take longer than asking whether they are the same.
        is_same = known.files[0] is authorities and known.files[1] is crls
        if verdict is None or not is_same or verdict.until < datetime.now(UTC):
            verdict = judge(known.chain, authorities, crls)
            known.verdict, known.files = verdict, files
        problem = verdict.problem
        if known.chain[0].not_valid_after_utc < datetime.now(UTC):
            problem = "it has expired; renew it"
        if problem:
            raise _denied(known.subject, problem)


def read_crls(text: bytes) -> tuple[x509.CertificateRevocationList, ...]:
    """The lists of a PEM file. Raises ValueError."""
    from cryptography import x509

    end = b"-----END X509 CRL-----"
    parts = [part + end for part in text.split(end)[:-1]]
    if not parts:
        raise ValueError("it has no X509 CRL")
    return tuple(x509.load_pem_x509_crl(part) for part in parts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a certificate is not accepted; empty: it is, until ``until``."""

    problem: str
    until: datetime


def judge(
    shown: Sequence[x509.Certificate],
    authorities: Sequence[x509.Certificate],
    crls: Sequence[x509.CertificateRevocationList] | None,
) -> Verdict:
    """Judge the first of ``shown``, with the others as intermediates. TLS has verified it before,
    maybe with other authorities."""
    at, until = shown[0], shown[0].not_valid_after_utc
    for _ in range(_DEEPEST):
        if at in authorities:
            return Verdict("", until)
        above = next((c for c in (*authorities, *shown[1:]) if _has_signed(c, at)), None)
        if above is None:
            break
        if crls is not None:
            found = _revocation(at, above, crls)
            if found.problem:
                return found
            until = min(until, found.until)
        at = above
    return Verdict("no authority of client_ca has signed it; let one of them issue it", until)


def _has_signed(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _revocation(
    certificate: x509.Certificate,
    authority: x509.Certificate,
    crls: Sequence[x509.CertificateRevocationList],
) -> Verdict:
    """As OpenSSL has it with X509_V_FLAG_CRL_CHECK_ALL: each authority needs a list."""
    lists = [
        crl
        for crl in crls
        if crl.issuer == authority.subject and crl.is_signature_valid(authority.public_key())  # type: ignore[arg-type]
    ]
    until = max((crl.next_update_utc or _FOREVER for crl in lists), default=_FOREVER)
    issuer = authority.subject.rfc4514_string()
    if not lists:
        return Verdict(f"there is no CRL of {issuer}; put it into the file crl", until)
    if until < datetime.now(UTC):
        return Verdict(
            f"the CRL of {issuer} is out of date; put a new one into the file crl", until
        )
    serial = certificate.serial_number
    if any(crl.get_revoked_certificate_by_serial_number(serial) is not None for crl in lists):
        return Verdict("it is revoked; issue another one", until)
    return Verdict("", until)


def names(certificate: x509.Certificate, kind: str) -> list[str]:
    """Names of one kind (``NAME_TYPES``) that can be a user's."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    found: list[str] = []
    if kind == "common-name":
        attributes = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        found = [str(a.value) for a in attributes] if len(attributes) == 1 else []
    else:
        try:
            extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
            return []
        if kind == "san-rfc822-name":
            # RFC 7407: the part behind the @ in lower case.
            for mail in extension.value.get_values_for_type(x509.RFC822Name):
                local, at, host = mail.rpartition("@")
                found.append(f"{local}{at}{host.lower()}")
        elif kind == "san-dns-name":
            values = extension.value.get_values_for_type(x509.DNSName)
            found = [name.lower() for name in values]
        elif kind == "san-uri":
            found = extension.value.get_values_for_type(x509.UniformResourceIdentifier)
    return [name for name in found if _is_proper(name)]


def _is_proper(name: str) -> bool:
    """No blank or control character, as in any user's name."""
    return 0 < len(name) <= _LONGEST_NAME and all(c > " " and c != "\x7f" for c in name)


def _denied(subject: str, problem: str) -> NotAuthenticatedError:
    return NotAuthenticatedError(f"certificate {subject}: {problem}")
