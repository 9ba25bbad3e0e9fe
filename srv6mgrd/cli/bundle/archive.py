"""A support bundle as a file: sources read one after the other, scrubbed, and packed."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path

from srv6mgrd.cli.bundle.scrub import Scrubber
from srv6mgrd.cli.bundle.sources import Source

ABOUT = """A support bundle of srv6mgr, of {node} at {when}.

Secrets were removed: passwords and keys of the configuration, of FRR and of the settings, and
whatever looks like one. Look through it before you pass it on all the same: it has the addresses,
names and routes of this network.

"""


def write(
    path: Path, sources: Iterable[Source], scrubber: Scrubber, about: str, now: int
) -> list[str]:
    """Make the archive, which root alone may read, with a page ``about`` it; what could not be
    read, and why. Raises OSError with no file left."""
    folder = path.name.removesuffix(".gz").removesuffix(".tar")
    missing: list[str] = []
    try:
        # Not followed and not overwritten: the folder may be anybody's.
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(opened, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            for source in sources:
                try:
                    text = source.read()
                except Exception as error:  # whatever it is, the others are of use
                    missing.append(f"{source.name}: {scrubber.text(str(error))}")
                    continue
                _add(archive, f"{folder}/{source.name}", scrubber.text(text), now)
            if missing:
                about += "Not read:\n" + "".join(f"  {line}\n" for line in missing)
            _add(archive, f"{folder}/README.txt", about, now)
    except FileExistsError:
        raise
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return missing


def _add(archive: tarfile.TarFile, name: str, text: str, now: int) -> None:
    content = text.encode(errors="replace")
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(content), now, 0o600
    archive.addfile(entry, io.BytesIO(content))
