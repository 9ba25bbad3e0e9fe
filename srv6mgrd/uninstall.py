"""Prints the script for vtysh that removes our lines from FRR: ``python -m srv6mgrd.uninstall``.

The packages keep it when they are removed, for the time when they are purged.
"""

from __future__ import annotations

import sys
from pathlib import Path

from srv6mgrd import settings as settings_file
from srv6mgrd.apply.journal import Journal
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.uninstall import script


def main() -> int:
    """Print the script; nothing when FRR does not run."""
    try:
        settings = settings_file.load(None)
        journal = Journal(Path(settings.state_directory) / "journal.sqlite")
    except settings_file.SettingsError as error:
        print(f"FRR's part: {error}", file=sys.stderr)
        return 1
    running = FrrSockets(Path(settings.frr_directory)).observe() or {}
    print("\n".join(script(journal, running)))
    journal.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
