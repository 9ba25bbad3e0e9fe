"""Where sysrepo spends an edit of many SIDs: by its calls, and by what is in the model.

The model's share is measured without the statements of one kind, in a copy of it in a repository of
its own. CPU time, which says more than the clock on a machine that is shared.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.report import Goal

YANG = Path(__file__).parent.parent / "yang"
SYSREPO_YANG = "/usr/share/yang/modules/sysrepo:/opt/yang"
MODEL = "srv6mgr-srv6.yang"
OURS = re.compile(r"^srv6mgr-\S+\.yang", re.MULTILINE)
ROUNDS = 5
TIMEOUT_MS = 600_000

# What is left out: pattern and what stands for it.
MUST = (r"\bmust\s+[^{]*\{[^}]*\}", "")
DEFAULT = (r'(leaf counters \{\s*type boolean;)\s*default "true";', r"\1")
LEAFREF = (r"type leafref \{\s*path [^}]*\}", "type string;")
MODELS: dict[str, tuple[tuple[str, str], ...]] = {
    "": (),
    " without must": (MUST,),
    " without the default of counters": (DEFAULT,),
    " without leafrefs": (LEAFREF,),
    " without all of these": (MUST, DEFAULT, LEAFREF),
}
STAGES = ("parsing, types", "edit taken over", "commit", "edit freed")


@contextmanager
def _repository(folder: Path, left_out: tuple[tuple[str, str], ...]) -> Iterator[None]:
    """A sysrepo with our modules alone, for this process."""
    modules = folder / "modules"
    shutil.copytree(YANG, modules)
    text = (modules / MODEL).read_text()
    for pattern, instead in left_out:
        text, count = re.subn(pattern, instead, text)
        if not count:
            raise RuntimeError(f"{MODEL} has nothing like {pattern}")
    (modules / MODEL).write_text(text)
    before = {name: os.environ[name] for name in ("SYSREPO_REPOSITORY_PATH", "SYSREPO_SHM_PREFIX")}
    os.environ["SYSREPO_REPOSITORY_PATH"] = str(folder / "repository")
    os.environ["SYSREPO_SHM_PREFIX"] = f"{before['SYSREPO_SHM_PREFIX']}-stages"
    names = OURS.findall((YANG / "install.txt").read_text())
    install = [part for name in names for part in ("--install", modules / name)]
    try:
        argv = ["sysrepoctl", "--search-dirs", f"{modules}:{SYSREPO_YANG}", *map(str, install)]
        subprocess.run(argv, check=True, capture_output=True)
        yield
    finally:
        for left in Path("/dev/shm").glob(f"{os.environ['SYSREPO_SHM_PREFIX']}*"):
            left.unlink(missing_ok=True)
        os.environ.update(before)
        shutil.rmtree(folder)


def _edit(text: str) -> list[float]:
    """CPU seconds of each stage of one edit, which is then taken back."""
    import sysrepo

    with sysrepo.SysrepoConnection() as connection, connection.start_session("running") as session:
        with connection.get_ly_ctx() as context:
            at = [time.process_time()]
            tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
            at.append(time.process_time())
            session.edit_batch_ly(tree)
            at.append(time.process_time())
            session.apply_changes(timeout_ms=TIMEOUT_MS)
            at.append(time.process_time())
            tree.free()
            at.append(time.process_time())
        session.delete_item("/srv6mgr-srv6:srv6")
        session.apply_changes(timeout_ms=TIMEOUT_MS)
    return [after - before for before, after in pairwise(at)]


def measure_stages(folder: Path, tree: dict[str, Any], size: str) -> list[Goal]:
    """Of each stage, and of the commit where statements are left out, beside the whole commit."""
    text = json.dumps(tree)
    runs: dict[str, list[list[float]]] = {}
    for name, left_out in MODELS.items():
        with _repository(folder / "stages", left_out):
            runs[name] = [_edit(text) for _ in range(ROUNDS)]
    commit = STAGES.index("commit")
    whole = [run[commit] for run in runs[""]]
    goals = [
        Goal(f"sysrepo, {size}: {stage}", [run[number] for run in runs[""]], [], None)
        for number, stage in enumerate(STAGES)
    ]
    for name in list(MODELS)[1:]:
        some = [run[commit] for run in runs[name]]
        goals.append(Goal(f"sysrepo, {size}: commit{name}, or whole", some, whole, None))
    return goals
