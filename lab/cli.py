"""The commands of `lab`."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab import (
    cache,
    container,
    frr,
    host,
    kernel,
    machine,
    netconfd,
    packages,
    previous,
    programs,
    pyenv,
    repository,
    rootfs,
    server,
    sysrepo,
    topology,
    unpacked,
)
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.problem import LabError, MachineError
from lab.progress import Progress
from lab.session import Interrupted, JobTooLong, Session

BRING_UP = ["python3", "-S", "-m", "lab.guest.nodes"]
DEFAULT_NAME = "default"
# Processes with what they wait for, then the kernel's stacks of those that are blocked.
DOING = (
    "ps --ppid 2 -p 2 --deselect -o pid,ppid,stat,etimes,times,args;"
    " echo w > /proc/sysrq-trigger; dmesg | tail -30"
)
OTHER_FOLDER = "name another folder"
FAILURE = 125  # of the lab itself, as with env(1) and chroot(1); not of the command


def main(arguments: Sequence[str]) -> int:
    parsed = _parser().parse_args(arguments)
    # SIGTERM ends it as Ctrl-C does: with everything taken down.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        host.require_host()
        status: int = parsed.go(parsed)
        return status
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return FAILURE
    except Interrupted as stop:
        return 128 + stop.number
    except KeyboardInterrupt:
        return 130


def build(_: argparse.Namespace) -> int:
    progress = Progress()
    image(progress, kernel_too=True)
    for path in sorted(cache.cache_dir().glob("*-*")):
        progress.say(f"{cache.folder_mib(path):6} MiB  {path}")
    return 0


def patched_frr(arguments: argparse.Namespace) -> int:
    progress = Progress()
    root = cache.ensure(rootfs.entry(), progress) / "root"
    cache.ensure(frr.source(root), progress)
    if not arguments.check:
        print(cache.ensure(frr.packages(root), progress))
    return 0


def print_root(_: argparse.Namespace) -> int:
    print(cache.ensure(rootfs.entry(), Progress()) / "root")
    return 0


def run(arguments: argparse.Namespace) -> int:
    progress = Progress()
    wanted = read_topology(arguments.topology)
    name = arguments.name or (wanted.name if wanted else "run")
    if arguments.fresh:
        if wanted is None:
            raise LabError("--fresh", "needs a topology", "name one with --topology")
        wanted = wanted.with_fresh(arguments.fresh)
    out = output_folder(name)
    more = fresh_debian(arguments, progress) if arguments.fresh else []
    more = [*more, *unpacked_packages(arguments, progress)]
    made = image(progress, out=out, more=more)
    for _ in range(arguments.tries - 1):
        try:
            return run_once(made, wanted, out, arguments)
        except MachineError as error:
            print(f"lab: {error}\nlab: once more", file=sys.stderr, flush=True)
    return run_once(made, wanted, out, arguments)


def unpacked_packages(arguments: argparse.Namespace, progress: Progress) -> list[Part]:
    """Those that are asked for, where the command finds them."""
    names = [name for name in unpacked.PACKAGES if getattr(arguments, name)]
    if not names:
        return []
    root = cache.ensure(rootfs.entry(), progress) / "root"
    return [
        Part(name, cache.ensure(unpacked.entry(root, name), progress), unpacked.home(name))
        for name in names
    ]


def run_once(
    made: machine.Image,
    wanted: topology.Topology | None,
    out: Path,
    arguments: argparse.Namespace,
) -> int:
    started = time.monotonic()
    running = machine.Machine(made)
    try:
        record_boot(out, "kernel", time.monotonic() - started)
        if wanted is not None:
            started = time.monotonic()
            bring_up(running, wanted)
            record_boot(out, f"topology {wanted.name}", time.monotonic() - started)
        job = Session(running, 2, [(running.console_fd, running.console_ready)])
        return job.run(
            arguments.command, environment=environment(arguments.env), raw=arguments.tty,
            limit=arguments.limit,
        )  # fmt: skip
    except JobTooLong as late:
        raise MachineError("run", f"the command {late}; {doing(running)}") from None
    finally:
        running.close()


def record_boot(out: Path, part: str, seconds: float) -> None:
    """Append to ``boot.jsonl`` how long a part of the start took."""
    with (out / "boot.jsonl").open("a") as file:
        print(json.dumps({"kind": "boot", "id": part, "seconds": round(seconds, 3)}), file=file)


def doing(running: machine.Machine) -> str:
    """The activity of the machine's processes, as far as it still answers."""
    said = bytearray()
    try:
        Session(running, 3).run(["sh", "-c", DOING], stdin=b"", collect=said, limit=15)
    except (JobTooLong, LabError) as problem:
        return f"the machine does not tell what it does ({problem})"
    return f"at that moment:\n{said.decode(errors='replace')}"


def chroot(arguments: argparse.Namespace) -> int:
    progress = Progress()
    made = image(progress, kernel_too=False)
    parts = [*made.parts, *unpacked_packages(arguments, progress)]
    network = "none" if arguments.isolated else "host"
    inside = Enclosure(made.root, parts, network=network, environment=environment(arguments.env))
    command = arguments.command or ["bash"]
    if arguments.isolated:
        command = ["sh", "-c", 'ip link set lo up; exec "$@"', "sh", *command]
    return inside.call(command)


def deb(arguments: argparse.Namespace) -> int:
    progress = Progress()
    cache.make_folder(arguments.out, OTHER_FOLDER)
    made = packages.built(progress)
    there = sorted(made.iterdir())
    if arguments.frr:
        root = cache.ensure(rootfs.entry(), progress) / "root"
        there += sorted((cache.ensure(frr.packages(root), progress) / "debs").iterdir())
    for path in packages.copy_to(arguments.out, there):
        if path.suffix == ".deb":
            progress.say(f"{path.stat().st_size / 2**20:6.1f} MiB  {path}")
    if arguments.twice:
        packages.compare_with_another_build(made, progress)
        progress.say("a second build, elsewhere and at another time, gave the same bytes")
    return 0


def repo(arguments: argparse.Namespace) -> int:
    progress = Progress()
    out: Path = arguments.out.absolute()
    url = arguments.url or f"file:{out}"
    repository.require(out, progress)
    repository.make(packages.built(progress), out, url, progress)
    print(
        f"{out}: a signed repository\n"
        f"  cp {out}/{repository.NAME}.sources /etc/apt/sources.list.d/\n"
        f"  apt-get update && apt-get install srv6mgr"
    )
    return 0


def container_image(arguments: argparse.Namespace) -> int:
    progress = Progress()
    folder = cache.make_folder(arguments.out.absolute(), OTHER_FOLDER)
    debs = packages.built(progress, but=packages.TESTING)
    made = container.only(cache.ensure(container.archive(debs), progress), "*.tar")
    out = folder / made.name
    shutil.copy(made, out)
    print(
        f"{out}: {out.stat().st_size // cache.MIB} MiB\n"
        f"  docker load -i {out}     (or: podman load -i {out})"
    )
    return 0


def start(arguments: argparse.Namespace) -> int:
    wanted = read_topology(arguments.file)
    assert wanted is not None
    name: str = arguments.name
    nodes = [node.name for node in wanted.nodes]
    out = output_folder(wanted.name) if not server.is_open(name) else None
    made = image(Progress(), out=out)

    def boot() -> machine.Machine:
        running = machine.Machine(made)
        try:
            bring_up(running, wanted)
        except BaseException:
            running.close()
            raise
        return running

    server.start(name, boot, nodes)
    option = "" if name == DEFAULT_NAME else f" --name {name}"
    print(
        f"lab {name} is open: {', '.join(nodes)}\n"
        f"  lab shell{option} NODE          a shell on a node (no NODE: beside the nodes)\n"
        f"  lab exec{option} NODE CMD...    one command on a node\n"
        f"  lab stop{option}                end it; results are in {out}"
    )
    return 0


def execute(arguments: argparse.Namespace) -> int:
    client = server.Client(arguments.name)
    command = on_node(client, arguments.node, arguments.command, terminal=False)
    job = Session(client, 0)
    return job.run(command, environment=environment(arguments.env), raw=arguments.tty)


def shell(arguments: argparse.Namespace) -> int:
    if not os.isatty(0):
        raise LabError("shell", "needs a terminal", "use: lab exec NODE CMD...")
    client = server.Client(arguments.name)
    where = arguments.node or "lab"
    rc_file = ["bash", "--rcfile", "/src/lab/guest/shellrc", "-i"]
    command = on_node(client, arguments.node, rc_file, terminal=True)
    status = Session(client, 0).run(command, environment={"LAB_PROMPT": where}, raw=True)
    return 0 if status == 129 else status


def stop(arguments: argparse.Namespace) -> int:
    server.Client(arguments.name).stop()
    return 0


def on_node(
    client: server.Client, node: str | None, command: Sequence[str], terminal: bool
) -> list[str]:
    if node in (None, "-"):
        return list(command)
    nodes = server.nodes_of(client)
    if node not in nodes:
        raise LabError(f"node {node}", "does not exist", f"nodes are {', '.join(nodes)}")
    return ["on", *(["-t"] if terminal else []), str(node), *command]


def image(
    progress: Progress,
    kernel_too: bool = True,
    out: Path | None = None,
    more: Sequence[Part] = (),
) -> machine.Image:
    """All that a machine is made of, built first where it is not in the cache."""
    parts = [Part("out", out, "/lab/out")] if out else []
    if os.environ.get("LAB_ROOT") == "/":  # a lab inside a lab
        return machine.Image(Path("/"), None, ())
    wanted = os.environ.get("LAB_KERNEL", "")
    source = kernel.NEWEST if wanted == "host" else kernel.SOURCES.get(wanted)
    if source is None:
        there = ", ".join(filter(None, kernel.SOURCES))
        raise LabError(f"LAB_KERNEL={wanted}", "is no kernel of the lab", f"use host, {there}")
    memory = memory_mib()
    debian = rootfs.entry()
    root = debian.path / "root"
    standard = sysrepo.standard(root)
    shown = {
        pyenv.HOMES["python"]: pyenv.product(root),
        pyenv.HOMES["pygnmi"]: pyenv.client(root),
        programs.MOUNT_POINT: programs.entry(root),
        sysrepo.STANDARD: standard,
        "/opt/sysrepo": sysrepo.entry(root, standard.path),
        netconfd.HOME: netconfd.entry(root),
    }
    if (patched := frr.packages(root)).path.is_dir():
        shown[frr.HOME] = patched
    own = [kernel.entry(root, source)] if kernel_too and wanted != "host" else []
    cache.ensure_all([debian, *own, *shown.values()], progress)
    parts += [Part(entry.kind, entry.path, place) for place, entry in shown.items()]
    parts += more
    binary = own[0].path / "linux" if own else None
    return machine.Image(root, binary, tuple(parts), memory)


def fresh_debian(arguments: argparse.Namespace, progress: Progress) -> list[Part]:
    """The root of routers with a Debian of their own, and the packages that they install."""
    if arguments.fresh_from is not None:
        return [Part("fresh", arguments.fresh_from.absolute(), packages.FRESH)]
    others = previous.dependencies() if arguments.previous else ()
    root = cache.ensure(packages.fresh_root(others), progress)
    parts = [Part("fresh", root, packages.FRESH)]
    if arguments.previous:
        earlier = cache.ensure(previous.packages(), progress)
        parts.append(Part("previous", earlier, previous.DEBS))
    debs = packages.built(progress, but=packages.TESTING)
    return [*parts, Part("debs", debs, packages.DEBS)]


def memory_mib() -> int:
    """The size of the machine."""
    given = os.environ.get("LAB_MEMORY", "4096")
    if not given.isdecimal() or int(given) < 256:
        raise LabError(f"LAB_MEMORY={given}", "is no number of MiB from 256", "use 4096")
    return int(given)


def bring_up(running: machine.Machine, wanted: topology.Topology) -> None:
    said = bytearray()
    job = Session(running, 1, [(running.console_fd, running.console_ready)])
    given = json.dumps(wanted.as_json()).encode()
    if job.run(BRING_UP, stdin=given, collect=said):
        text = said.decode(errors="replace").strip()
        raise LabError(f"topology {wanted.name}", text)


def read_topology(path: str | None) -> topology.Topology | None:
    if path is None:
        return None
    try:
        return topology.parse(Path(path).read_text(), path)
    except OSError as error:
        there = ", ".join(
            str(p.relative_to(CHECKOUT)) for p in CHECKOUT.glob("lab/topologies/*.toml")
        )
        raise LabError(path, error.strerror or "can't be read", f"there are: {there}") from error


def output_folder(name: str) -> Path:
    """Where logs and results survive: LAB_OUT, or a folder of the checkout that git ignores."""
    given = os.environ.get("LAB_OUT")
    folder = Path(given).absolute() if given else CHECKOUT / "build/lab" / name
    if not given:
        shutil.rmtree(folder, ignore_errors=True)
    return cache.make_folder(folder, "set LAB_OUT to another folder")


def environment(settings: Sequence[str]) -> dict[str, str]:
    table = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            raise LabError(f"--env {setting}", "is not NAME=VALUE")
        table[key] = value
    return table


def offer_packages(command: argparse.ArgumentParser) -> None:
    for name in unpacked.PACKAGES:
        text = f"{unpacked.home(name)} has Debian's {name}"
        command.add_argument(f"--{name}", action="store_true", help=text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("build", help="build all that is cached")
    one.set_defaults(go=build)

    one = commands.add_parser("frr", help="build Debian's FRR with frr-patches, print its folder")
    one.add_argument("--check", action="store_true", help="only see that the patches apply")
    one.set_defaults(go=patched_frr)

    one = commands.add_parser("root", help="print the folder of the root")
    one.set_defaults(go=print_root)

    one = commands.add_parser("run", help="boot, run a command, end")
    one.add_argument("--topology", metavar="FILE", help="bring up this network first")
    one.add_argument("--name", help="folder of results below build/lab (default: the topology's)")
    one.add_argument("--env", metavar="K=V", action="append", default=[])
    one.add_argument("--tty", action="store_true", help="give the command the whole terminal")
    one.add_argument(
        "--fresh", metavar="NODE", action="append", default=[],
        help="it boots a fresh Debian with systemd; /opt/debs has the product's packages",
    )  # fmt: skip
    one.add_argument(
        "--fresh-from", metavar="FOLDER", type=Path,
        help="with --fresh: boot FOLDER/root instead, such as that of an image",
    )  # fmt: skip
    one.add_argument(
        "--previous", action="store_true",
        help="with --fresh: /opt/previous has the packages of an earlier state (once, 15 minutes)",
    )  # fmt: skip
    offer_packages(one)
    one.add_argument("--tries", type=int, default=1, metavar="N", help="when the machine dies")
    one.add_argument("--limit", type=float, metavar="SECONDS", help="longer, and it hangs")
    one.add_argument("command", nargs="+")
    one.set_defaults(go=run)

    def named(verb: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(verb, help=text)
        made.add_argument("--name", default=DEFAULT_NAME, help="one of several open labs")
        return made

    one = commands.add_parser("deb", help="build the Debian packages in a clean root")
    one.add_argument("--twice", action="store_true", help="build again, and compare")
    one.add_argument("--frr", action="store_true", help="with FRR's, patched")
    one.add_argument("out", metavar="FOLDER", type=Path, help="where they are copied to")
    one.set_defaults(go=deb)

    one = commands.add_parser("repo", help="make a signed apt repository of the packages")
    one.add_argument("--url", help="where routers find it (default: file: and the folder)")
    one.add_argument("out", metavar="FOLDER", type=Path)
    one.set_defaults(go=repo)

    one = commands.add_parser("image", help="make a container image of a router")
    one.set_defaults(go=container_image)
    one.add_argument("out", metavar="FOLDER", type=Path, help="where the archive is copied to")

    one = named("start", "bring up a network and leave it open")
    one.add_argument("file", metavar="FILE")
    one.set_defaults(go=start)

    one = named("exec", "run a command on a node of the open lab")
    one.add_argument("--env", metavar="K=V", action="append", default=[])
    one.add_argument("--tty", action="store_true", help="give the command the whole terminal")
    one.add_argument("node", metavar="NODE", help="its name; -: beside the nodes")
    one.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    one.set_defaults(go=execute)

    one = named("shell", "a shell on a node of the open lab")
    one.add_argument("node", metavar="NODE", nargs="?")
    one.set_defaults(go=shell)

    named("stop", "end the open lab").set_defaults(go=stop)

    one = commands.add_parser("chroot", help="run a command in the root, on the host's kernel")
    one.add_argument("--env", metavar="K=V", action="append", default=[])
    one.add_argument("--isolated", action="store_true", help="with a network namespace of its own")
    offer_packages(one)
    one.add_argument("command", nargs="*")
    one.set_defaults(go=chroot)
    return parser
