"""What the kernel rejected, and what keeps us from talking to it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from srv6mgrd.ports import AdapterError


@dataclass(frozen=True, slots=True)
class Failure:
    """The kernel's answer to one request it rejected: errno and its words (extack or strerror)."""

    errno: int
    message: str

    @staticmethod
    def of(number: int, message: str = "") -> Failure:
        return Failure(number, message or os.strerror(number))


class KernelError(AdapterError):
    """The kernel can't be read or reached."""
