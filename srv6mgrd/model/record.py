"""Dataclasses that are made by the hundred thousand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_T]) -> type[_T]:
    """``dataclass(frozen=True, slots=True)`` that is frozen for the type checker alone: to make a
    frozen one goes through ``object.__setattr__`` field by field, and takes twice as long."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
