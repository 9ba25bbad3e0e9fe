"""Reads the manifest of the SONiC package as SONiC does: by sonic-package-manager.

git clone --depth 1 https://github.com/sonic-net/sonic-utilities build/sonic-utilities
pip install --target build/sonic-python semantic-version natsort filelock
PYTHONPATH=build/sonic-python python3 -m tests.sonic.manifest build/sonic-utilities
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

MANIFEST = Path("packaging/sonic/manifest.json")


def main() -> int:
    # Without its __init__, which wants docker and the command line of a SONiC.
    package = ModuleType("sonic_package_manager")
    package.__path__ = [f"{sys.argv[1]}/sonic_package_manager"]
    sys.modules[package.__name__] = package
    from sonic_package_manager.errors import ManifestError
    from sonic_package_manager.manifest import Manifest

    written = json.loads(MANIFEST.read_text())
    taken = Manifest.marshal(written).unmarshal()
    dropped = [name for name in written if name not in taken]
    wrong = {**written, "service": {**written["service"], "requires": "swss"}}
    try:
        Manifest.marshal(wrong)
        dropped.append("a wrong manifest is accepted")
    except ManifestError:
        pass
    print(*dropped, sep="\n", end="\n" if dropped else "")
    print(f"package {taken['package']['name']} {taken['package']['version']}: manifest accepted")
    return 1 if dropped else 0


if __name__ == "__main__":
    sys.exit(main())
