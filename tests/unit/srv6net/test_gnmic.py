"""The files of examples/gnmic have settings that gnmic has, each of its type.

gnmic ignores settings that it does not know, so running it would find no misspelt one. The names
are the ``mapstructure`` tags of gnmic's own configuration.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from srv6net.command.prometheus import gnmic
from srv6net.intent.inventory import inventory
from tests.unit.srv6net.intents import router

FOLDER = Path(__file__).parents[3] / "examples/gnmic"
TEXT, NUMBER, YES, TIME, LIST = "text", "number", "yes", "time", "list"
Schema = Mapping[str, Any]

_TLS: Schema = {
    "ca-file": TEXT, "cert-file": TEXT, "key-file": TEXT, "client-auth": TEXT, "skip-verify": YES,
}  # fmt: skip
_OUTPUT: Schema = {
    "type": TEXT, "name": TEXT, "tls": _TLS, "add-target": TEXT, "target-template": TEXT,
    "override-timestamps": YES, "event-processors": LIST, "num-workers": NUMBER,
    "buffer-size": NUMBER, "debug": YES, "enable-metrics": YES,
}  # fmt: skip
_SENT: Schema = {"format": TEXT, "msg-template": TEXT, "split-events": YES}
OUTPUTS: Mapping[str, Schema] = {
    "kafka": {
        **_OUTPUT, **_SENT, "address": TEXT, "topic": TEXT, "max-retry": NUMBER, "timeout": TIME,
        "recovery-wait-time": TIME, "insert-key": YES, "compression-codec": TEXT,
        "sasl": {"user": TEXT, "password": TEXT, "mechanism": TEXT, "token-url": TEXT},
    },
    "jetstream": {
        **_OUTPUT, **_SENT, "address": TEXT, "stream": TEXT, "subject": TEXT,
        "subject-format": TEXT, "use-existing-stream": YES, "username": TEXT, "password": TEXT,
        "connect-time-wait": TIME, "write-timeout": TIME,
        "create-stream": {
            "description": TEXT, "subjects": LIST, "storage": TEXT, "retention-policy": TEXT,
            "max-msgs": NUMBER, "max-bytes": NUMBER, "max-age": TIME, "max-msg-size": NUMBER,
        },
    },
    "clickhouse": {
        **_OUTPUT, "address": TEXT, "database": TEXT, "table": TEXT, "username": TEXT,
        "password": TEXT, "batch-size": NUMBER, "flush-timer": TIME, "max-in-flight": NUMBER,
        "timeout": TIME, "recovery-wait-time": TIME, "create-table": YES, "table-engine": TEXT,
        "partition-by": TEXT, "order-by": LIST, "ttl": TEXT,
    },
}  # fmt: skip
LOCKERS: Mapping[str, Schema] = {
    "redis": {
        "type": TEXT, "servers": LIST, "master-name": TEXT, "password": TEXT,
        "lease-duration": TIME, "renew-period": TIME, "retry-timer": TIME, "poll-timer": TIME,
        "debug": YES,
    },
    "consul": {
        "type": TEXT, "address": TEXT, "datacenter": TEXT, "username": TEXT, "password": TEXT,
        "token": TEXT, "session-ttl": TIME, "delay": TIME, "retry-timer": TIME,
        "renew-period": TIME, "debug": YES,
    },
}  # fmt: skip
_CLUSTERING: Schema = {
    "cluster-name": TEXT, "instance-name": TEXT, "service-address": TEXT, "tags": LIST,
    "services-watch-timer": TIME, "targets-watch-timer": TIME, "target-assignment-timeout": TIME,
    "leader-wait-timer": TIME, "tls": _TLS,
}  # fmt: skip
_TOP: Schema = {
    "username": TEXT, "password": TEXT, "encoding": TEXT, "log": YES,
    "api-server": {"address": TEXT},
    "loader": {"type": TEXT, "path": TEXT, "interval": TIME, "start-delay": TIME},
}  # fmt: skip
_SUBSCRIPTION: Schema = {
    "paths": LIST, "mode": TEXT, "stream-mode": TEXT, "sample-interval": TIME,
    "heartbeat-interval": TIME, "encoding": TEXT, "outputs": LIST, "updates-only": YES,
    "suppress-redundant": YES,
}  # fmt: skip
# Go's time.ParseDuration, as far as it is used.
_TIME = re.compile(r"[0-9]+(ms|s|m|h)")


def schema_of(name: str, found: Any) -> Any:
    if name == "outputs":
        return {key: OUTPUTS[value["type"]] for key, value in found.items()}
    if name == "subscriptions":
        return dict.fromkeys(found, _SUBSCRIPTION)
    if name == "clustering":
        return {**_CLUSTERING, "locker": LOCKERS[found["locker"]["type"]]}
    return _TOP[name]


def assert_is(kind: Any, value: Any, where: str) -> None:
    if isinstance(kind, Mapping):
        for name, one in value.items():
            assert name in kind, f"{where}: gnmic has no {name}"
            assert_is(kind[name], one, f"{where}/{name}")
        return
    types = {TEXT: str, NUMBER: int, YES: bool, LIST: list, TIME: str}
    assert isinstance(value, types[kind]), f"{where}: {value} is no {kind}"
    assert kind != TIME or _TIME.fullmatch(value), f"{where}: {value} is no duration"


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.toml")))
def test_gnmic_has_each_setting(file: str) -> None:
    for name, found in tomllib.loads((FOLDER / file).read_text()).items():
        assert_is(schema_of(name, found), found, name)


def test_a_misspelt_setting_is_found() -> None:
    with pytest.raises(AssertionError, match="gnmic has no topik"):
        assert_is(OUTPUTS["kafka"], {"type": "kafka", "topik": "x"}, "outputs")


def test_the_inventory_becomes_targets_of_gnmic() -> None:
    document = {
        "as-number": 65000,
        "username": "telemetry",
        "tls": {"ca": "/ca.crt"},
        "routers": {"pe1": router(1), "pe2": router(2, address="unix:/run/srv6mgr/gnmi.sock")},
    }
    assert gnmic(inventory(document)) == {
        "pe1": {
            "address": "pe1:9339", "username": "telemetry", "tls-ca": "/ca.crt",
            "tags": ["locator=fcbb:0:1::/48"],
        }
    }  # fmt: skip
