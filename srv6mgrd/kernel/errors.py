"""What the kernel refused, and what keeps us from talking to it."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """The kernel's answer to one request it refused: errno and its words (extack or strerror)."""

    errno: int
    words: str

    @staticmethod
    def of(number: int, words: str = "") -> Failure:
        return Failure(number, words or os.strerror(number))


class KernelError(Exception):
    """The kernel can't be read or reached: ``object: cause; remedy``."""

    def __init__(self, what: str, cause: str, remedy: str) -> None:
        super().__init__(f"{what}: {cause}; {remedy}")
        self.what = what
        self.cause = cause
        self.remedy = remedy
