"""When an X.509 certificate ends (RFC 5280 section 4.1.2.5). Pure.

A few steps into the DER instead of a library: that would cost srv6mgrd 10 MB for one date.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

_SEQUENCE, _VERSION = 0x30, 0xA0
_UTC_TIME, _GENERALIZED_TIME = 0x17, 0x18
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def not_after(pem: str) -> float:
    """Of the first certificate of a file, in seconds since the epoch. Raises ValueError."""
    begin, end = pem.find(_BEGIN), pem.find(_END)
    if begin < 0 or end < begin:
        raise ValueError("it holds no certificate")
    der = ssl.PEM_cert_to_DER_cert(pem[begin : end + len(_END)])
    try:
        _, certificate, _ = _element(der, 0)
        _, fields, _ = _element(certificate, 0)
        tag, _, at = _element(fields, 0)
        # The serial number comes first in version 1; then algorithm, issuer, validity.
        for _ in range(3 if tag == _VERSION else 2):
            _, _, at = _element(fields, at)
        tag, validity, _ = _element(fields, at)
        _, _, at = _element(validity, 0)
        form, time, _ = _element(validity, at)
    except IndexError:
        raise ValueError("its certificate is cut off") from None
    if tag != _SEQUENCE:
        raise ValueError("its certificate makes no sense")
    return _time(form, time.decode("ascii"))


def _element(der: bytes, at: int) -> tuple[int, bytes, int]:
    """Tag, content, and where the next one begins. Raises IndexError."""
    tag, length, at = der[at], der[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7F
        length, at = int.from_bytes(der[at : at + count]), at + count
    if at + length > len(der):
        raise IndexError
    return tag, der[at : at + length], at + length


def _time(form: int, text: str) -> float:
    if form == _UTC_TIME:
        # RFC 5280: years from 50 on are of the last century.
        text = ("19" if text >= "50" else "20") + text
    elif form != _GENERALIZED_TIME:
        raise ValueError("its certificate makes no sense")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
