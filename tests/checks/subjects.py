"""Check the form of commit messages: ``area: imperative summary``, 72 characters, then a body.

Without arguments, checks the commits of the current branch; with a file, the message in it, as
git's hook ``commit-msg`` passes it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

LONGEST = 72
# Older commits keep their subjects. Compared with the author's date, which a rebase leaves alone.
SINCE = datetime(2026, 11, 23, 13, tzinfo=UTC)
_FORM = re.compile(r"[a-z][a-z0-9 ,./_-]*: \S")
# What git itself writes.
_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
# The rest of a message below this line is a diff, which git removes.
_SCISSORS = "# ------------------------ >8 ------------------------"


def problems(message: str) -> list[str]:
    """What is wrong with a commit message; empty when nothing is."""
    lines = _written(message)
    if not lines:
        return ["the message is empty: write `area: imperative summary`, a blank line, and why"]
    subject, rest = lines[0], lines[1:]
    if subject.startswith(_BY_GIT):
        return []
    found = []
    if len(subject) > LONGEST:
        found.append(f"the subject has {len(subject)} characters: shorten it to {LONGEST}")
    if not _FORM.match(subject):
        found.append("the subject names no area: write `area: imperative summary`")
    if rest and rest[0]:
        found.append("the second line is not blank: put the body behind a blank line")
    return found


def _written(message: str) -> list[str]:
    """The lines that git keeps of a message as it was edited."""
    lines = [line.rstrip() for line in message.partition(_SCISSORS)[0].splitlines()]
    lines = [line for line in lines if not line.startswith("#")]
    while lines and not lines[0]:
        del lines[0]
    return lines


def _history() -> list[tuple[str, str]]:
    """Hash and message of each commit since SINCE, merges left out."""
    # --since compares the date of the last rebase.
    command = ["git", "log", "--no-merges", "-z", "--format=%h%n%at%n%B", f"--since={SINCE}"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    commits = []
    for entry in output.split("\0"):
        name, _, rest = entry.strip("\n").partition("\n")
        written, _, message = rest.partition("\n")
        if name and int(written) >= SINCE.timestamp():
            commits.append((name, message))
    return commits


def main(arguments: Sequence[str]) -> int:
    messages = [(file, Path(file).read_text()) for file in arguments] or _history()
    bad = [(name, problem) for name, message in messages for problem in problems(message)]
    for name, problem in bad:
        print(f"{name}: {problem}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
