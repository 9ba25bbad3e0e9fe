"""The file of what is observed: whole, in parts, and written only when it differs."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.counters import observed
from srv6mgrd.counters.node import NodeReader
from srv6mgrd.counters.observed import ObservedWriter
from srv6mgrd.storage import Problems


def test_parts(tmp_path: Path) -> None:
    file = tmp_path / "observed.json"
    writer, reader = ObservedWriter(file), NodeReader(file)
    writer.stage("frr", {"vrfs": {"vrf": [{"name": "red"}]}})
    writer.stage("interfaces", {"interfaces": {}})
    assert not file.exists()
    writer.publish()
    assert reader.read().members == {"interfaces": {}, "vrfs": {"vrf": [{"name": "red"}]}}
    version = reader.version()
    writer.stage("interfaces", {"interfaces": {}})
    writer.publish()
    assert reader.version() == version
    writer.stage("frr", {})
    writer.publish()
    assert json.loads(file.read_text()) == {"interfaces": {}}


def test_what_the_process_before_said_goes(tmp_path: Path) -> None:
    file = tmp_path / "observed.json"
    file.write_text('{"vrfs": {}}')
    ObservedWriter(file).publish()
    assert json.loads(file.read_text()) == {}


def test_a_file_that_can_not_be_written_is_written_later(tmp_path: Path) -> None:
    problems = Problems()
    away = tmp_path / "away"
    writer = ObservedWriter(away / "observed.json", problems)
    writer.stage("frr", {"vrfs": {}})
    writer.publish()
    assert list(problems.listed()) == ["observed.json"]
    away.mkdir()
    writer.publish()
    assert problems.listed() == {}
    assert json.loads((away / "observed.json").read_text()) == {"vrfs": {}}


def test_what_is_published_is_encoded_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "observed.json"
    writer = ObservedWriter(file)
    writer.stage("frr", {"vrfs": {"vrf": [{"name": "red"}]}})
    writer.stage("service", {"vrfs": {"vrf": [{"name": "red", "service": {}}]}})
    with monkeypatch.context() as patch:
        patch.delattr(json, "dumps")
        writer.publish()
    assert json.loads(file.read_text()) == {"vrfs": {"vrf": [{"name": "red", "service": {}}]}}


def test_a_part_that_takes_long_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "observed.json"
    writer, join = ObservedWriter(file), observed._join
    joining, may_end = threading.Event(), threading.Event()

    def slowly(first: Any, second: Any) -> Any:
        if threading.current_thread() is other:
            joining.set()
            may_end.wait(30)
        return join(first, second)

    monkeypatch.setattr(observed, "_join", slowly)
    writer.stage("frr", {"vrfs": {"vrf": [{"name": "red", "bgp": {}}]}})
    red = {"vrfs": {"vrf": [{"name": "red", "service": {}}]}}
    other = threading.Thread(target=writer.stage, args=("service", red), daemon=True)
    other.start()
    assert joining.wait(30)
    mine = threading.Thread(target=writer.stage, args=("interfaces", {"interfaces": {}}))
    mine.start()
    mine.join(30)
    assert not mine.is_alive()
    writer.publish()
    whole = {"interfaces": {}, "vrfs": {"vrf": [{"name": "red", "bgp": {}, "service": {}}]}}
    assert json.loads(file.read_text()) == whole
    may_end.set()
    other.join(30)
    # What was staged earlier does not replace it.
    writer.publish()
    assert json.loads(file.read_text()) == whole


def test_members_of_several_parts_are_joined_by_key(tmp_path: Path) -> None:
    file = tmp_path / "observed.json"
    writer = ObservedWriter(file)
    writer.stage("frr", {"vrfs": {"vrf": [{"name": "red", "bgp": {"neighbor": [1]}}]}})
    services = [{"name": "blue", "service": {}}, {"name": "red", "service": {"state": "up"}}]
    writer.stage("service", {"vrfs": {"vrf": services}, "local-sids": {"sid": []}})
    writer.publish()
    red = {"name": "red", "bgp": {"neighbor": [1]}, "service": {"state": "up"}}
    assert json.loads(file.read_text()) == {
        "vrfs": {"vrf": [red, {"name": "blue", "service": {}}]},
        "local-sids": {"sid": []},
    }
    assert writer.staged("service")["local-sids"] == {"sid": []}
    assert writer.staged("other") == {}
    writer.stage("frr", {})
    writer.publish()
    assert json.loads(file.read_text())["vrfs"] == {"vrf": services}
