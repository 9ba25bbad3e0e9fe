"""IPv6 prefixes by the hundred thousand: small, with hash and text at hand."""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network
from typing import NamedTuple

_BITS = 128


class _Numbers(NamedTuple):
    """What the hash of a network is made of: anything that ``int`` takes."""

    network_address: int
    netmask: int


class Prefix(IPv6Network):
    """An IPv6Network that keeps its address packed, its hash and its text. Equal to the plain one.

    What the plain one keeps in attributes is made when it is asked for.
    """

    __slots__ = ("_bits", "_hash", "_packed", "_text")
    _packed: bytes
    _bits: int
    _hash: int | None
    _text: str

    def __new__(cls, address: object, strict: bool = True) -> Prefix:
        plain = IPv6Network(address, strict)
        return cls.of(plain.network_address.packed, plain.prefixlen)

    def __init__(self, address: object, strict: bool = True) -> None:
        pass

    @classmethod
    def of(cls, packed: bytes, length: int) -> Prefix:
        """From network order and length; no bits may be behind the length."""
        made = object.__new__(cls)
        made._packed, made._bits, made._hash, made._text = packed, length, None, ""
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

    @property
    def network_address(self) -> IPv6Address:  # type: ignore[override]
        return IPv6Address(self._packed)

    @property
    def netmask(self) -> IPv6Address:  # type: ignore[override]
        return _mask(self._bits)

    @property
    def _prefixlen(self) -> int:
        return self._bits

    @property
    def hostmask(self) -> IPv6Address:
        return IPv6Address(int(_mask(self._bits)) ^ ((1 << _BITS) - 1))

    @property
    def broadcast_address(self) -> IPv6Address:
        return IPv6Address(int.from_bytes(self._packed) | int(self.hostmask))

    @property
    def prefixlen(self) -> int:
        return self._bits

    @property
    def packed(self) -> bytes:
        """The address in network order."""
        return self._packed

    def __hash__(self) -> int:
        if self._hash is None:
            # As of the plain one, which makes two addresses only to ask for their numbers; what it
            # makes of them differs between versions of Python.
            numbers = _Numbers(int.from_bytes(self._packed), _mask_number(self._bits))
            self._hash = IPv6Network.__hash__(numbers)  # type: ignore[arg-type]
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is Prefix:
            return self._packed == other._packed and self._bits == other._bits
        return super().__eq__(other)

    def __str__(self) -> str:
        if not self._text:
            # inet_ntop writes embedded IPv4 addresses with dots, ipaddress doesn't.
            if any(self._packed[:10]):
                self._text = f"{socket.inet_ntop(socket.AF_INET6, self._packed)}/{self._bits}"
            else:
                self._text = super().__str__()
        return self._text


def packed(prefix: IPv6Network) -> bytes:
    """The address in network order. An IPv6Address made only to be asked for that costs more than
    most of what is done with it."""
    return prefix.packed if isinstance(prefix, Prefix) else prefix.network_address.packed


def number(prefix: IPv6Network) -> int:
    """The address as an integer."""
    return int.from_bytes(packed(prefix))


@lru_cache(maxsize=_BITS + 1)
def _mask(length: int) -> IPv6Address:
    return IPv6Network(("::", length)).netmask


@lru_cache(maxsize=_BITS + 1)
def _mask_number(length: int) -> int:
    return int(_mask(length))
