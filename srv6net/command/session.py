"""Shared by all commands: inventory, store, routers, and how errors become Problems."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from srv6mgrd.cli.output import Output
from srv6mgrd.cli.problem import Complaint, Exit, Problem, complaint_of
from srv6mgrd.model.rejection import RejectedError
from srv6net.command.progress import Progress
from srv6net.device.gnmi import GnmiDevice
from srv6net.intent.inventory import Inventory, inventory
from srv6net.store.opening import KeptStore, opened
from srv6net.transaction.executor import Executor
from srv6net.transaction.ports import BusyError, StoreError

INVENTORY = Path("/etc/srv6net/inventory.toml")
Command = TypeVar("Command", bound=Callable[..., Any])


class Session:
    """One run of srv6net; a context manager. What it opens is opened when it is asked for."""

    def __init__(self, inventory: Path, store: str, *, as_json: bool) -> None:
        self.out = Output()
        self.out.as_json = as_json
        self._inventory_file, self._store_place = inventory, store
        self._inventory: Inventory | None = None
        self._store: KeptStore | None = None
        self._devices: dict[str, GnmiDevice] = {}
        self._opened = ExitStack()

    def close(self) -> None:
        self._opened.close()

    @property
    def inventory(self) -> Inventory:
        if self._inventory is None:
            text = _read(self._inventory_file, "write one, or name it with --inventory")
            try:
                document = tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                raise Problem.of(
                    str(self._inventory_file), f"it is no TOML: {error}", "correct it", Exit.USAGE
                ) from None
            with problems():
                self._inventory = inventory(document)
        return self._inventory

    @property
    def store(self) -> KeptStore:
        if self._store is None:
            with problems():
                self._store = opened(self._store_place)
            self._opened.callback(self._store.close)
        return self._store

    @property
    def devices(self) -> Mapping[str, GnmiDevice]:
        """All routers; each is connected when it is first asked something."""
        if not self._devices:
            for router in self.inventory.routers.values():
                device = GnmiDevice(router.endpoint)
                self._opened.callback(device.close)
                self._devices[router.name] = device
        return self._devices

    def executor(self) -> Executor:
        progress = Progress(sys.stderr, is_quiet=self.out.as_json)
        return Executor(self.store, self.devices, progress=progress)

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Within, no other srv6net changes the network."""
        with problems(), self.store.lead():
            yield


def document(file: str) -> dict[str, Any]:
    """Services from a file, ``-`` for standard input. Raises Problem."""
    text = sys.stdin.read() if file == "-" else _read(Path(file), "name a readable file")
    name = "standard input" if file == "-" else file
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Problem.of(name, f"it is no JSON: {error}", "correct it", Exit.USAGE) from None
    if not isinstance(found, dict):
        raise Problem.of(name, "it is no JSON object", "see docs/srv6net.md", Exit.USAGE)
    return found


@contextmanager
def problems() -> Iterator[None]:
    """Rejections and failures of the store as Problems."""
    try:
        yield
    except RejectedError as error:
        complaints = [Complaint(r.object, r.cause, r.remedy) for r in error.rejections]
        raise Problem(complaints, Exit.REJECTED) from None
    except BusyError as error:
        raise Problem([complaint_of(str(error))], Exit.BUSY) from None
    except StoreError as error:
        raise Problem([complaint_of(str(error))], Exit.REJECTED) from None


def _read(file: Path, remedy: str) -> str:
    try:
        return file.read_text()
    except OSError as error:
        cause = f"it cannot be read ({error.strerror})"
        raise Problem.of(str(file), cause, remedy, Exit.USAGE) from None
    except UnicodeDecodeError as error:
        raise Problem.of(str(file), f"it is no text ({error})", remedy, Exit.USAGE) from None


pass_session = click.make_pass_decorator(Session)


def json_option(command: Command) -> Command:
    """``--json`` behind a command, as well as before it."""
    option = click.option(
        "--json", is_flag=True, expose_value=False, callback=_json, help="Print JSON."
    )
    return option(command)


def _json(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    session = context.find_object(Session)
    if is_given and session is not None:
        session.out.as_json = True
