"""Check the prose of documentation, comments and docstrings with Vale.

The rules are in docs/prose. A file that passed is not checked again until it or the rules change.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
RULES = CHECKOUT / "docs/prose"
VALE = CHECKOUT / "build/bin/vale"
CACHE = CHECKOUT / "build/prose.json"
CHECKED = frozenset({".md", ".py", ".c", ".h"})


def main() -> int:
    if not VALE.exists():
        print(f"{VALE} is missing, and checks prose: run make build/bin/vale")
        return 1
    rules = digest(*sorted(file for file in RULES.rglob("*") if file.is_file()), VALE)
    clean = passed(rules)
    changed = {name: seen for name, seen in sources() if clean.get(name) != seen}
    found = list(findings(changed))
    for finding in found:
        print(finding)
    bad = {finding.partition(":")[0] for finding in found}
    clean.update((name, seen) for name, seen in changed.items() if name not in bad)
    CACHE.write_text(json.dumps({"rules": rules, "clean": clean}))
    if found:
        print(f"{len(found)} findings; docs/prose/README.md explains the rules")
    return 1 if found else 0


def sources() -> Iterator[tuple[str, str]]:
    """The files to check, each with a digest of its contents."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    for name in names.split("\0"):
        file = CHECKOUT / name
        if file.suffix in CHECKED and file.is_file():
            yield name, digest(file)


def digest(*files: Path) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def passed(rules: str) -> dict[str, str]:
    """Digests of the files that passed with these rules."""
    try:
        cached = json.loads(CACHE.read_text())
    except (OSError, ValueError):
        return {}
    clean: dict[str, str] = cached["clean"] if cached.get("rules") == rules else {}
    return clean


def findings(names: Iterable[str], folder: Path = CHECKOUT) -> Iterator[str]:
    """``file:line:column: rule: message`` of each violation."""
    wanted = sorted(names)
    if not wanted:
        return
    command = (str(VALE), "--config", str(RULES / "vale.ini"), "--output", "JSON", *wanted)
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"vale: status {done.returncode}: {done.stderr or done.stdout}")
    for name, alerts in sorted(json.loads(done.stdout or "{}").items()):
        for alert in alerts:
            place = f"{name}:{alert['Line']}:{alert['Span'][0]}"
            yield f"{place}: {alert['Check'].partition('.')[2]}: {alert['Message']}"


if __name__ == "__main__":
    sys.exit(main())
