"""The kinds of objects that there are."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from srv6mgrd import kinds
from srv6mgrd.kinds.object import Object


def every_kind() -> Iterator[type[Object]]:
    """The classes that the packages of srv6mgrd/kinds define."""
    for package in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."):
        if package.ispkg:
            module = import_module(f"{package.name}.object")
            for name, item in vars(module).items():
                made_here = isinstance(item, type) and item.__module__ == module.__name__
                if made_here and issubclass(item, Object) and not name.startswith("_"):
                    yield item
