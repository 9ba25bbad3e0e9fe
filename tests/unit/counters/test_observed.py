"""The file of what is observed: whole, in parts, and written only when it differs."""

from __future__ import annotations

import json
from pathlib import Path

from srv6mgrd.counters.node import NodeReader
from srv6mgrd.counters.observed import ObservedWriter


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
