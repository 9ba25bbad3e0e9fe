"""Where SONiC's Redis is: database_config.json (sonic-swss-common common/dbconnector.cpp).

On a router with several ASICs database_global.json lists a file for each namespace.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from srv6mgrd.redis.wire import DATABASES


class DatabaseConfigError(Exception):
    """The file can't be used; the message names file, cause and remedy."""


def socket_of(config: Path, namespace: str = "") -> str:
    """The UNIX socket of the instance that has our databases. Raises DatabaseConfigError."""
    file = config if not namespace else _included(config, namespace)
    content = _read(file)
    try:
        found = {name: content["DATABASES"][name] for name in DATABASES}
        instances = {entry["instance"] for entry in found.values()}
        ids = {name: int(entry["id"]) for name, entry in found.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise _wrong(file, f"{error} is absent or no database") from None
    if ids != dict(DATABASES):
        wrong = sorted(name for name, number in ids.items() if number != DATABASES[name])
        raise _wrong(file, f"{', '.join(wrong)} has another number than stock SONiC gives it")
    if len(instances) != 1:
        names = ", ".join(sorted(map(str, instances)))
        raise _wrong(file, f"the databases are spread over the instances {names}")
    try:
        return str(content["INSTANCES"][instances.pop()]["unix_socket_path"])
    except (KeyError, TypeError):
        raise _wrong(file, "the instance has no unix_socket_path") from None


def _included(config: Path, namespace: str) -> Path:
    """The file of a namespace."""
    listing = config.with_name("database_global.json")
    try:
        for entry in _read(listing)["INCLUDES"]:
            if entry.get("namespace", "") == namespace:
                return listing.parent.joinpath(str(entry["include"])).resolve()
    except (KeyError, TypeError, AttributeError) as error:
        raise _wrong(listing, f"{error} is absent or wrong") from None
    raise _wrong(listing, f"it has no namespace {namespace}")


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text())
    except OSError as error:
        raise _wrong(file, str(error.strerror)) from None
    except ValueError as error:
        raise _wrong(file, str(error)) from None
    if not isinstance(content, dict):
        raise _wrong(file, "it is no JSON object")
    return content


def _wrong(file: Path, cause: str) -> DatabaseConfigError:
    return DatabaseConfigError(
        f"{file}: {cause}; correct it, or write redis_socket in place of sonic_database_config"
    )
