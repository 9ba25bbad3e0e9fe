"""Only one srv6mgrd at a time."""

import pytest

from srv6mgrd.alone import AlreadyRunningError, alone, is_managed


def test_one_per_runtime_directory(tmp_path):
    with alone(tmp_path), pytest.raises(AlreadyRunningError, match="as process"), alone(tmp_path):
        pass


def test_one_per_network_namespace(tmp_path):
    with (
        alone(tmp_path / "a"),
        pytest.raises(AlreadyRunningError, match="this network namespace"),
        alone(tmp_path / "b"),
    ):
        pass


def test_the_next_one_may_start(tmp_path):
    for _ in range(2):
        with alone(tmp_path):
            pass


def test_whether_one_runs_is_told_without_disturbing_it(tmp_path):
    assert not is_managed()
    with alone(tmp_path):
        assert is_managed()
    assert not is_managed()
