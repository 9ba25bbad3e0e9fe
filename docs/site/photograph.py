"""Take a picture of a page of Prometheus, from telemetry that was recorded in the lab or made.

photograph.py FOLDER PICTURE [SECONDS HEIGHT]: of so many seconds, and so many pixels high
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

from lab import cache, host, rootfs, unpacked
from lab.enclosure import Enclosure, Part
from lab.progress import Progress
from lab.waiting import wait_until

HOME = unpacked.home("prometheus")

PORT = 19090
SERVE = f"""set -e
mount -t overlay -o lowerdir={HOME}/usr:/usr overlay /usr
cp -r /recorded /tmp/recorded
exec prometheus --config.file=/dev/null --storage.tsdb.path=/tmp/recorded/metrics2 \\
    --web.listen-address=127.0.0.1:{PORT} --storage.tsdb.retention.time=100y \\
    --web.console.templates=/tmp/recorded/prometheus/consoles \\
    --web.console.libraries=/tmp/recorded/prometheus/console_libraries
"""
WIDTH = 1000


def main(folder: Path, picture: Path, seconds: int = 300, height: int = 980) -> None:
    progress = Progress()
    host.require_tools({"chromium": "chromium"}, progress)
    root = cache.ensure(rootfs.entry(), progress) / "root"
    files = cache.ensure(unpacked.entry(root, "prometheus"), progress)
    parts = [Part("prometheus", files, HOME), Part("recorded", folder, "/recorded")]
    inside = Enclosure(root, parts, source="overlay")
    ended = json.loads((folder / "ended.json").read_text())
    with subprocess.Popen(inside.argv(["sh", "-c", SERVE]), env=inside.variables()) as server:
        try:
            wait_until(is_ready, "Prometheus is ready", timeout=60, period=0.2)
            shown = urllib.parse.quote(json.dumps({"duration": seconds, "endTime": ended}))
            subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--hide-scrollbars",
                 f"--window-size={WIDTH},{height}", "--virtual-time-budget=10000",
                 f"--screenshot={picture.absolute()}",
                 f"http://127.0.0.1:{PORT}/consoles/srv6.html#pctc{shown}"],
                check=True, capture_output=True, timeout=120,
            )  # fmt: skip
        finally:
            server.kill()
    print(f"{picture}: {picture.stat().st_size // 1024} KiB")


def is_ready() -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/-/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]), *map(int, sys.argv[3:]))
