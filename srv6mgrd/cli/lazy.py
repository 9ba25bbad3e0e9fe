"""Groups of commands whose modules are imported when a command is asked for."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click


class LazyGroup(click.Group):
    """``modules`` names the module of each command, in the order in which they are listed; the
    command is called there as here, with underscores."""

    def __init__(self, *arguments: Any, modules: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        module = import_module(self._modules[cmd_name])
        name = cmd_name.replace("-", "_")
        # What Python itself has under this name is not hidden.
        is_taken = hasattr(builtins, name) or iskeyword(name)
        command: click.Command = getattr(module, f"{name}_" if is_taken else name)
        return command
