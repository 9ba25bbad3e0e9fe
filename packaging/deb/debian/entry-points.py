"""Programs for the entry points of pyproject.toml: entry-points.py PYPROJECT PAGES FOLDER, which
has a folder for each package.

Those that have a manual page among PAGES: daemons (section 8) go to /usr/sbin of the package, what
operators type to /usr/bin.
"""

import sys
import tomllib
from pathlib import Path

PROGRAMS = "usr/lib/srv6mgr/venv/bin"
PROGRAM = """#!/usr/lib/srv6mgr/venv/bin/python3 -I
import sys

from {module} import {function}

sys.exit({function}())
"""


def main(project: str, pages: str, packages: str) -> None:
    scripts = tomllib.loads(Path(project).read_text())["project"]["scripts"]
    for name, target in scripts.items():
        page = next(Path(pages).glob(f"{name}.[18]"), None)
        if page is None:
            continue
        module, _, function = target.partition(":")
        own = "srv6mgr-orchagent" if module.startswith("orchagent.") else "srv6mgr"
        package = Path(packages) / own
        program = package / PROGRAMS / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(PROGRAM.format(module=module, function=function))
        program.chmod(0o755)
        folder = package / ("usr/sbin" if page.suffix == ".8" else "usr/bin")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(Path("/", PROGRAMS, name))


main(*sys.argv[1:])
