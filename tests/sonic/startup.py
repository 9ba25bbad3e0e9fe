"""Starts the container of the SONiC package as SONiC's base image does: by supervisord, with
supervisord-dependent-startup. Stand-ins that log their start take the place of the daemons.

    pip install --target build/sonic-python supervisor supervisord-dependent-startup==1.4.0
    PYTHONPATH=build/sonic-python python3 -m tests.sonic.startup
"""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.waiting import wait_until

PACKAGE = Path("packaging/sonic")
# As /etc/supervisor/supervisord.conf of Debian, which includes those of conf.d.
_BASE = """[unix_http_server]
file={folder}/supervisor.sock
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://{folder}/supervisor.sock
[include]
files={folder}/conf.d/*.conf
"""
# Needs the settings that start.sh makes, as the daemons do.
_STAND_IN = """#!/bin/sh
name=$1; shift
for word in "$@"; do
    case $word in *.toml) [ -s "$word" ] || name="$name without $word" ;; esac
done
echo "$name" >>"{folder}/started"
exec sleep 1000
"""
# The listener is a program of SONiC's base image.
_OF_SONIC = "eventlistener:supervisor-proc-exit-listener"


def prepare(folder: Path) -> None:
    stand_in = folder / "stand-in"
    stand_in.write_text(_STAND_IN.format(folder=folder))
    stand_in.chmod(0o755)
    conf = configparser.ConfigParser(interpolation=None)
    conf.read(PACKAGE / "supervisord.conf")
    conf.remove_section(_OF_SONIC)
    conf["supervisord"]["logfile"] = str(folder / "supervisord.log")
    conf["supervisord"]["pidfile"] = str(folder / "supervisord.pid")
    for name in conf.sections():
        kind, _, program = name.partition(":")
        section = conf[name]
        if kind == "program" and program != "start":
            words = section["command"].replace("/run/srv6mgr", str(folder / "run"))
            section["command"] = f"{stand_in} {program} {words}"
    conf["program:start"]["command"] = f"sh {(PACKAGE / 'start.sh').resolve()}"
    conf["eventlistener:dependent-startup"]["command"] = (
        f"{sys.executable} -m supervisord_dependent_startup -c {folder}/supervisord.conf"
    )
    (folder / "conf.d").mkdir()
    with (folder / "conf.d/supervisord.conf").open("w") as out:
        conf.write(out)
    (folder / "supervisord.conf").write_text(_BASE.format(folder=folder))
    (folder / "etc").mkdir()
    (folder / "etc/gnmid.toml").write_text('log_level = "info"\n')


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        places = {"ETC": "etc", "RUN": "run", "STATE": "state"}
        environment = {f"SRV6MGR_{key}": str(folder / place) for key, place in places.items()}
        command = [sys.executable, "-m", "supervisor.supervisord", "-c", f"{name}/supervisord.conf"]
        with (folder / "output").open("w") as output:
            daemon = subprocess.Popen(command, env=os.environ | environment, stdout=output)
        started = folder / "started"
        try:
            wait_until(
                lambda: started.exists() and len(started.read_text().splitlines()) >= 4,
                "four programs",
                timeout=60,
                seen=(folder / "output").read_text,
            )
        finally:
            daemon.terminate()
            daemon.wait()
        order = started.read_text().splitlines()
    print("started:", ", ".join(order))
    first, last = order[:2], sorted(order[2:])
    right = first == ["rsyslogd", "srv6mgrd"] and last == ["srv6-configdbd", "srv6-gnmid"]
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
