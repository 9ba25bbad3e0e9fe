"""IPv6 prefixes by the hundred thousand: what ``ipaddress`` computes anew each time is kept."""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network

_BITS = 128


class Prefix(IPv6Network):
    """An IPv6Network that has its hash and text at hand. Equal to the plain one."""

    _hash: int | None = None
    _text = ""

    @classmethod
    def of(cls, packed: bytes, length: int) -> Prefix:
        """From network order and length; no bits may stand behind the length."""
        made = cls.__new__(cls)
        made.network_address = IPv6Address(packed)
        made.netmask, made._prefixlen = _mask(length)  # type: ignore[attr-defined]
        return made

    @classmethod
    def parse(cls, text: str) -> Prefix:
        """From text; bits behind the length are dropped. Raises ValueError."""
        address, _, length = text.partition("/")
        try:
            packed, bits = socket.inet_pton(socket.AF_INET6, address), int(length)
        except (OSError, ValueError):
            return cls(text, strict=False)
        if not 0 <= bits <= _BITS:
            raise ValueError(f"{text}: no prefix is that long")
        if (behind := int.from_bytes(packed)) & ((1 << (_BITS - bits)) - 1):
            packed = (behind >> (_BITS - bits) << (_BITS - bits)).to_bytes(16)
        return cls.of(packed, bits)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Prefix:
            return (
                self.network_address._ip == other.network_address._ip  # type: ignore[attr-defined]
                and self.prefixlen == other.prefixlen
            )
        return super().__eq__(other)

    def __str__(self) -> str:
        if not self._text:
            packed = self.network_address.packed
            # inet_ntop writes embedded IPv4 addresses with dots, ipaddress doesn't.
            if any(packed[:10]):
                self._text = f"{socket.inet_ntop(socket.AF_INET6, packed)}/{self.prefixlen}"
            else:
                self._text = super().__str__()
        return self._text


@lru_cache(maxsize=_BITS + 1)
def _mask(length: int) -> tuple[IPv6Address, int]:
    mask = IPv6Network(("::", length)).netmask
    return mask, length
