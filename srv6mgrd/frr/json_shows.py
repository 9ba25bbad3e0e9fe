"""Show commands of FRR that answer in JSON."""

from __future__ import annotations

import errno
import json
from typing import Any

from srv6mgrd.frr.vty import Shows, VtyError


def show_json(frr: Shows, daemon: str, command: str) -> dict[str, Any]:
    """The object that a show command prints, empty for anything else; VtyError, with EPROTO where
    the daemon has words instead of JSON."""
    text = frr.show(daemon, command).strip()
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise VtyError(errno.EPROTO, f"{daemon} gave no JSON for '{command}' ({error})") from error
    return found if isinstance(found, dict) else {}
