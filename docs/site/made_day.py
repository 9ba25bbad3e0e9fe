"""A day of made metrics of two routers, as Prometheus stores them, for a picture of the page.

made_day.py FOLDER leaves there what photograph.py draws. Traffic rises and falls once; for two
hours a path is slow, a SID drops packets, and there are alarms.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lab import cache, rootfs, unpacked
from lab.progress import Progress

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/prometheus"
STEP, DAY = 60, 86_400
# When things fail, in seconds from the beginning.
FAULT = range(15 * 3600, 17 * 3600)

Value = Callable[[int], float]


def rate(base: float, phase: float) -> Value:
    """Of traffic: least at night, most in the evening."""
    return lambda at: base * (1.2 + math.sin(2 * math.pi * (at / DAY - phase)))


def fault(value: float, otherwise: float = 0) -> Value:
    return lambda at: value if at in FAULT else otherwise


# Counters by name, labels and how fast they count; gauges by name, labels and value.
SENT = (
    ("pe1", "red", "fcbb:0:2::/48", rate(4e6, 0.3)),
    ("pe1", "blue", "fcbb:0:2::/48", rate(1.5e6, 0.45)),
    ("pe2", "red", "fcbb:0:1::/48", rate(2.5e6, 0.3)),
    ("pe2", "blue", "fcbb:0:1::/48", rate(6e5, 0.4)),
)
SIDS = (
    ("pe1", "fcbb:0:1:64::/64", "red", rate(2500, 0.3), fault(0)),
    ("pe1", "fcbb:0:1:c8::/64", "blue", rate(600, 0.4), fault(40)),
    ("pe2", "fcbb:0:2:64::/64", "red", rate(4000, 0.3), fault(0)),
    ("pe2", "fcbb:0:2:c8::/64", "blue", rate(1500, 0.45), fault(0)),
)
SESSIONS = (
    ("pe1", "default", "2001:db8::2"),
    ("pe1", "blue", "10.1.0.10"),
    ("pe2", "default", "2001:db8::1"),
)
STATES = ("up", "unknown", "degraded", "down")


def counters() -> Iterator[tuple[str, str, Value]]:
    for router, vrf, locator, speed in SENT:
        labels = f'instance="{router}",vrf="{vrf}",family="ipv4",remote_locator="{locator}"'
        yield "srv6_accounting_sent_inner_bytes", labels, speed
    for name, which in (("srv6_sid_packets", 3), ("srv6_sid_errors", 4)):
        for one in SIDS:
            router, sid, vrf = one[:3]
            speed = one[3] if which == 3 else one[4]
            labels = f'instance="{router}",sid="{sid}",vrf="{vrf}",behavior="End.DT46"'
            yield name, labels, speed

    labels = (
        'instance="pe1",sid="fcbb:0:1:c8::/64",vrf="blue",reason="no-route",certainty="certain"'
    )
    yield "srv6_dropped_packets", labels, fault(38)
    yield "srv6_dropped_packets", labels.replace("no-route", "hop-limit"), fault(2)


def gauges() -> Iterator[tuple[str, str, Value]]:
    for router in ("pe1", "pe2"):
        for vrf in ("red", "blue"):
            for state in STATES:
                labels = f'instance="{router}",vrf="{vrf}",srv6_vrf_service_state="{state}"'
                shown = "degraded" if (router, vrf) == ("pe1", "blue") else "up"
                yield "srv6_vrf_service_state", labels, _constant(float(state == shown))
    for router in ("pe1", "pe2"):
        labels = f'instance="{router}",session="core",statistic="median"'
        yield "srv6_path_round_trip_delay_seconds", labels, fault(0.009, 0.004)
    for router, vrf, neighbor in SESSIONS:
        labels = f'instance="{router}",vrf="{vrf}",neighbor="{neighbor}"'
        is_lost = vrf == "blue"
        yield "srv6_bgp_session_established", labels, fault(0, 1) if is_lost else _constant(1)
    for router in ("pe1", "pe2"):
        yield "srv6_alarms", f'instance="{router}",severity="major"', fault(2.0)


def _constant(value: float) -> Value:
    return lambda _: value


def text(ended: int) -> Iterator[str]:
    """OpenMetrics with times, family by family."""
    began = ended - DAY
    known = ""
    for kind, families in (("counter", counters()), ("gauge", gauges())):
        for name, labels, value in families:
            if name != known:
                known = name
                yield f"# TYPE {name} {kind}\n"
            sample = f"{name}_total" if kind == "counter" else name
            total = 0.0
            for at in range(0, DAY + 1, STEP):
                total = total + value(at) * STEP if kind == "counter" else value(at)
                yield f"{sample}{{{labels}}} {total:.6g} {began + at}\n"
    yield "# EOF\n"


def main(folder: Path) -> None:
    progress = Progress()
    root = cache.ensure(rootfs.entry(), progress) / "root"
    files = cache.ensure(unpacked.entry(root, "prometheus"), progress)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("metrics2", "prometheus/consoles", "prometheus/console_libraries"):
        (folder / name).mkdir(parents=True)
    library = "usr/share/doc/prometheus/examples/console_libraries/prom.lib"
    shutil.copy(files / library, folder / "prometheus/console_libraries")
    shutil.copy(EXAMPLES / "srv6.html", folder / "prometheus/consoles")
    ended = int(time.time())
    (folder / "day.txt").write_text("".join(text(ended)))
    subprocess.run(
        [files / "usr/bin/promtool", "tsdb", "create-blocks-from", "openmetrics",
         folder / "day.txt", folder / "metrics2"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (folder / "ended.json").write_text(json.dumps(ended))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
