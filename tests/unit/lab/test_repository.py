"""The folder of the apt repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lab import repository
from lab.problem import LabError


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """``lab repo FOLDER`` runs as root."""
    (tmp_path / "pool").mkdir()
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(LabError, match="notes"):
        repository.emptied(tmp_path)
    assert (tmp_path / "notes").read_text() == "mine"
    assert (tmp_path / "pool").is_dir()


def test_an_earlier_repository_is_replaced(tmp_path: Path) -> None:
    for name in ("pool", "dists"):
        (tmp_path / name).mkdir()
    (tmp_path / "srv6mgr.sources").write_text("")
    assert repository.emptied(tmp_path) == tmp_path
    assert not list(tmp_path.iterdir())
    assert repository.emptied(tmp_path / "new").is_dir()


@pytest.mark.skipif(shutil.which("gpg") is None, reason="needs gpg")
def test_a_key_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNUPGHOME", str(tmp_path))
    monkeypatch.setenv(repository.KEY_VARIABLE, "nobody@example.net")
    with pytest.raises(LabError, match="gpg has no such secret key"):
        repository.signing_key()
