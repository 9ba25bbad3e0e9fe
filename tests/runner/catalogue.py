"""All jobs: which command, where, and what it needs first.

A job runs on the host (tools of the checkout), in the lab's root on the host's kernel (``lab
chroot``), or in a lab with a kernel of its own (``lab run``).
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.cache import cache_dir
from lab.guest.catalogue import PATCHED_FRR
from tests.runner import records
from tests.runner.job import Job
from tests.runner.near import Choice

CHECKOUT = Path(__file__).resolve().parents[2]
OUT = CHECKOUT / "build/test"
TOPOLOGY = "lab/topologies/two-pe.toml"
LAB = str(CHECKOUT / "lab/lab")
TOOLS = Path(sys.executable).parent
PYTHON = "/opt/srv6mgr/bin/python"
# Seconds and busy CPUs of each job when it runs alone: [seconds, load]. `make slow` measures them.
EXPECTED = Path(__file__).with_name("expected.toml")

# Contract tests that need sysrepo, Redis or files, and no kernel with VRFs.
ON_HOST = (
    "cli",
    "commits",
    "configdb",
    "datastore",
    "gnmi",
    "metrics",
    "netconf",
    "orchagent",
    "redis",
    "yang",
)
# The same with a package of Debian's that a test needs and no router has (lab/unpacked.py).
WITH_PACKAGES = {"etcd": "etcd", "ipfix": "pmacct", "prometheus": "prometheus"}
# On the host's kernel first, which runs them many times faster; tests that it skips (no VRF device)
# run in the lab.
ON_HOST_KERNEL = ("accounting", "chains", "drops", "kernel", "oam", "proxy", "stamp")
# The oldest kernel that the product runs on; an older one tests nothing.
OLDEST_KERNEL = (6, 12)
# In the lab; each group of files is a job.
FRR = {
    "configuration": ("test_configuration",),
    "vpn": ("test_vpn",),
    "isis": ("test_isis",),
}
ROBOT = CHECKOUT / "tests/robot"
# System suites that share a network, one after the other; a suite is a file or a folder of files.
SUITES = (
    ("lab", "behaviors", "boundary", "oam", "vrf"),
    ("cli", "gnmi", "netconf", "transactions"),
    ("frr",),
    ("accounting", "interoperation", "sonic", "vpn"),
    ("proxies",),
    ("reconcile", "rejections"),
    ("fortress",),
    ("edge",),
    ("dual_homed",),
    ("lookup_table",),
    ("network",),
    ("chains",),
    ("pages",),
    ("truth",),
)
# The network of a suite, where it is another one.
TOPOLOGIES = {
    "dual_homed": "lab/topologies/dual-homed.toml",
    "network": "lab/topologies/three-pe.toml",
    "chains": "lab/topologies/chain.toml",
}
# These need packages or programs of their own and run in `make nightly`.
NIGHTLY_SUITES = ("packages", "upgrade", "dashboard")
# Of these, those whose routers boot a Debian of their own.
ON_FRESH_DEBIAN = frozenset({"packages", "upgrade"})
# What the lab has for a suite besides: packages of an earlier state, or Prometheus.
SHOWN = {"upgrade": "--previous", "dashboard": "--prometheus"}

BUILD_LAB = "build/lab"
BUILD_GNMI_CLI = "build/gnmi_cli"
BUILD_GOBGP = "build/gobgp_peer"
BUILD_STAMP = "build/stamp-suite"
BUILD_TUNNEL = "build/tunnel_server"
BUILD_GRAFANA = "build/grafana_schema"
BUILD_FRR = "build/frr"
# Programs that are built for a room of contract tests.
OF_ROOMS = {"gnmi": (BUILD_GNMI_CLI, BUILD_TUNNEL), "prometheus": (BUILD_GRAFANA,)}
# Programs that are built for a suite.
PEERS = {"interoperation": BUILD_GOBGP}


def folder(job: Job) -> Path:
    """Where the job's output, records and logs are."""
    return OUT / job.slug


def all_jobs() -> dict[str, Job]:
    """Every job of `make test`, by name."""
    jobs = [*_build(), *_check(), *_unit(), *_contract(), *_robot()]
    return {job.name: job for job in jobs}


def by_name() -> dict[str, Job]:
    """All that can be run by its name: what needs no seed."""
    nightly_jobs = {job.name: job for job in nightly(0, 0) if job.stage != "soak"}
    return {**nightly_jobs, **all_jobs()}


def of_stages(stages: Iterable[str]) -> list[Job]:
    """The jobs of these stages, and what they need."""
    wanted = set(stages)
    return with_needs(job.name for job in all_jobs().values() if job.stage in wanted)


def quick() -> list[Job]:
    """The checks that need no lab: what a hook runs before each commit."""
    return [job for job in _check() if not job.after]


def with_needs(names: Iterable[str]) -> list[Job]:
    """Jobs by name, each with all that it needs, in the order of the catalogue."""
    jobs = by_name()
    wanted: set[str] = set()

    def take(name: str) -> None:
        if name not in wanted:
            wanted.add(name)
            for need in (*jobs[name].after, *jobs[name].follows):
                take(need)

    for name in names:
        take(name)
    return [job for name, job in jobs.items() if name in wanted]


def _build() -> list[Job]:
    return [
        _job(BUILD_LAB, (LAB, "build"), limit=3600),
        _job(BUILD_GNMI_CLI, ("make", "build/bin/gnmi_cli")),
        _job(BUILD_GOBGP, ("make", "build/bin/gobgp_peer")),
        _job(BUILD_STAMP, ("make", "build/bin/stamp-suite")),
        _job(BUILD_TUNNEL, ("make", "build/bin/tunnel_server")),
        _job(BUILD_GRAFANA, ("make", "build/bin/grafana_schema")),
    ]


def _check() -> list[Job]:
    cache = cache_dir()
    in_root = f"{LAB} chroot -- sh -c"
    format_hint = "|| { echo \"run 'make format'\"; exit 1; }"
    shell = {
        "ruff": f"ruff format --quiet --check . {format_hint}; ruff check --quiet .",
        "mypy": "mypy --no-error-summary",
        "pyang": "pyang --lint -p yang yang/*.yang; yang/check-update.sh",
        "clang-format": "git ls-files '*.c' '*.h' | xargs -r clang-format --dry-run -Werror",
        "robocop": "robocop check --silent tests/robot;"
        " robocop format --check --silent tests/robot",
        "generated": "docs/generate.sh --check",
        "rooms": "python -m tests.checks.rooms",
        "names": "python -m tests.checks.names",
        "prose": "make build/bin/vale; python -m tests.checks.prose",
        "subjects": "python -m tests.checks.subjects",
    }
    standard = "-p /usr/share/yang/modules/sysrepo -p /opt/yang"
    with_lab = {
        "yanglint": f"{in_root} 'yanglint -p yang {standard} yang/*.yang'",
        "frr-patches": f"{LAB} frr --check",
        "clang-tidy": f'netconfd/check-tidy.sh "$({LAB} root)" {cache}/tidy',
    }
    return [
        *(_job(f"check/{name}", _shell(line)) for name, line in shell.items()),
        *(
            _job(f"check/{name}", _shell(line), after=(BUILD_LAB,))
            for name, line in with_lab.items()
        ),
    ]


def _unit() -> list[Job]:
    pytest = (sys.executable, "-m", "pytest")
    return [
        _job("unit/unit", (*pytest, "tests/unit")),
        _job("unit/property", (*pytest, "tests/property")),
    ]


def _frr_files() -> dict[str, list[str]]:
    """The files of contract tests of FRR, by job."""
    files = {path.stem for path in (CHECKOUT / "tests/contract/frr").glob("test_*.py")}
    groups = {**FRR, "rest": sorted(files - {f for group in FRR.values() for f in group})}
    return {name: [f"tests/contract/frr/{f}.py" for f in group] for name, group in groups.items()}


def _contract() -> list[Job]:
    jobs = [
        in_root(f"contract/{room}", [f"tests/contract/{room}"], _needs_of(room)) for room in ON_HOST
    ]
    rooms = [f"tests/contract/{room}" for room in ON_HOST_KERNEL]
    jobs += _kernel_tests("contract/kernel", rooms)
    for room, package in WITH_PACKAGES.items():
        options = (f"--{package}",)
        path = f"tests/contract/{room}"
        jobs.append(in_root(f"contract/{room}", [path], _needs_of(room), options=options))
    reconcile = _pytest(["tests/contract/reconcile"])
    jobs.append(in_lab("contract/reconcile", reconcile, topology=None))
    for name, paths in _frr_files().items():
        jobs.append(in_lab(f"contract/frr-{name}", _pytest(paths)))
    return jobs


def _kernel_tests(name: str, arguments: Sequence[str]) -> list[Job]:
    """Two jobs: on the host's kernel, and in the lab what that one lacks."""
    on_host = in_root(name, arguments, (BUILD_LAB, BUILD_STAMP))
    if host_kernel() < OLDEST_KERNEL:
        needs = (BUILD_LAB, BUILD_STAMP)
        return [in_lab(f"{name}-lab", _pytest(arguments), needs, topology=None)]
    skipped = folder(on_host).relative_to(CHECKOUT) / "records.jsonl"
    rest = _pytest([*arguments, "--only-skipped-in", str(skipped)])
    in_the_lab = in_lab(f"{name}-lab", rest, topology=None)
    return [on_host, replace(in_the_lab, follows=(on_host.name,))]


def host_kernel() -> tuple[int, int]:
    """Version of the running kernel."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _robot() -> list[Job]:
    return [suites(group) for group in SUITES]


def suites(names: Sequence[str], *options: str) -> Job:
    """System suites on one network, with further options of Robot Framework."""
    name = f"robot/{'-'.join(names).replace('/', '-')}"
    command = ("tests/robot/run", *names, *(("--", *options) if options else ()))
    rooms = {one.partition("/")[0] for one in names}
    fresh = ("pe1", "pe2") if rooms & ON_FRESH_DEBIAN else ()
    options_of_lab = tuple(SHOWN[room] for room in sorted(rooms) if room in SHOWN)
    peers = tuple(PEERS[room] for room in sorted(rooms) if room in PEERS)
    (topology,) = {TOPOLOGIES.get(room, TOPOLOGY) for room in rooms}
    return in_lab(
        name,
        command,
        limit=1500,
        fresh=fresh,
        after=(BUILD_LAB, *peers),
        topology=topology,
        options=options_of_lab,
    )


def suite(names: Sequence[str]) -> list[Job]:
    """The job of suites by name, with what it needs. Raises ValueError for a name of none."""
    for name in names:
        if not name or not any(
            (ROBOT / f"{name}{end}").exists() for end in (".robot", "/__init__.robot")
        ):
            there = ", ".join(
                sorted((*(one for group in SUITES for one in group), *NIGHTLY_SUITES))
            )
            raise ValueError(f"{name} is no suite; there are {there}")
    job = suites(names)
    return [*with_needs(job.after), job]


def one(test: str) -> list[Job]:
    """The jobs that run one test (pytest's id, or ``FILE.robot::Test Case``) where it belongs.

    Raises ValueError for what is no test of ours.
    """
    file, _, case = test.partition("::")
    parts = Path(file).parts
    if not (CHECKOUT / file).exists() or parts[:1] != ("tests",) or len(parts) < 3:
        raise ValueError(f"{file} is no test; name one like tests/contract/frr/test_vpn.py")
    if file.endswith(".robot"):
        suite = str((CHECKOUT / file).relative_to(ROBOT).with_suffix(""))
        jobs = [suites([suite], *(("--test", case) if case else ()))]
    elif parts[1] in ("unit", "property"):
        jobs = [_job("unit/one", (sys.executable, "-m", "pytest", test))]
    elif parts[1] == "soak":
        jobs = [in_lab("soak/one", _pytest([test]))]
    elif parts[2] in ON_HOST:
        jobs = [in_root("contract/one", [test], _needs_of(parts[2]))]
    elif parts[2] in ON_HOST_KERNEL:
        jobs = _kernel_tests("contract/one", [test])
    else:
        jobs = [in_lab("contract/one", _pytest([test]))]
    return [*(all_jobs()[need] for need in _needs(jobs)), *jobs]


def near(choice: Choice) -> list[Job]:
    """Quick checks, and the tests of a choice."""
    rooms: dict[str, list[str]] = {}
    for file in choice.files:
        rooms.setdefault("/".join(Path(file).parts[1:3]), []).append(file)
    on_host = [f for f in choice.files if Path(f).parts[1] in ("unit", "property")]
    jobs = [job for job in _check() if job.name in ("check/ruff", "check/mypy")]
    if on_host:
        jobs.append(_job("unit/near", (sys.executable, "-m", "pytest", *on_host)))
    for room, files in rooms.items():
        stage, _, name = room.partition("/")
        if stage == "contract" and name in ON_HOST:
            jobs.append(in_root(f"{room}-near", files, _needs_of(name)))
        elif stage == "contract" and name in ON_HOST_KERNEL:
            jobs.append(in_root(f"{room}-near", files))
    return [*(all_jobs()[need] for need in _needs(jobs)), *jobs]


def nightly(seconds: float, seed: int) -> list[Job]:
    """All that exists."""
    stable = in_lab(
        "nightly/stable-kernel",
        _pytest(["tests/contract/proxy", "tests/contract/chains"], timeout=600),
        limit=1800, env={"LAB_KERNEL": "stable"},
    )  # fmt: skip
    packages = [suites([name]) for name in NIGHTLY_SUITES]
    offered = _job("nightly/upstream", ("docs/upstream/check.sh", "pyroute2"))
    install = (sys.executable, "-m", "pytest", "-v", "-m", "", "tests/repository")
    packages.append(_job("nightly/repository", install, (BUILD_LAB,), limit=1800))
    image = (sys.executable, "-m", "pytest", "-v", "-m", "", "tests/image")
    packages.append(_job("nightly/image", image, (BUILD_LAB,), limit=2400))
    rehearsal = (sys.executable, "-m", "pytest", "-v", "-m", "", "tests/rehearsal")
    packages.append(_job("nightly/rehearsal", rehearsal, (BUILD_LAB,), limit=3600))
    _, *soaked = soak(seconds, seed)
    frr = _job(BUILD_FRR, (LAB, "frr"), (BUILD_LAB,), limit=3600)
    jobs = [*all_jobs().values(), stable, offered, *packages, *soaked]
    # With FRR's patches built, the tests of each patch run too, and all others once more with them.
    for name, paths in _frr_files().items():
        others = [path for path in paths if not path.endswith(("_patches.py", "_aggregates.py"))]
        command = ("env", f"FRR_ROOT={PATCHED_FRR}", *_pytest(others))
        jobs.append(in_lab(f"nightly/patched-frr-{name}", command, (BUILD_LAB, BUILD_FRR)))
    after = {j.name: (*j.after, BUILD_FRR) for j in jobs if j.name.startswith("contract/frr")}
    return [frr, *(replace(job, after=after.get(job.name, job.after)) for job in jobs)]


def soak(seconds: float, seed: int) -> list[Job]:
    """What needs long, by a seed and until the time is over: a chaos campaign on the network, and
    beside it tests again and again with another seed each time."""
    by_seed = ("--seconds", f"{seconds:.0f}", "--seed", str(seed))
    jobs = [
        in_lab(f"soak/{name}", (PYTHON, "-m", module, *by_seed), limit=2 * seconds + 600)
        for name, module in (("chaos", "tests.soak.chaos"), ("lab", "tests.soak"))
    ]
    return [all_jobs()[BUILD_LAB], *jobs]


def _needs(jobs: Iterable[Job]) -> list[str]:
    jobs = list(jobs)
    own = {job.name for job in jobs}
    return sorted({need for job in jobs for need in job.after} - own)


def _needs_of(room: str) -> tuple[str, ...]:
    return (BUILD_LAB, *OF_ROOMS.get(room, ()))


def in_root(
    name: str,
    arguments: Sequence[str],
    after: tuple[str, ...] = (BUILD_LAB,),
    *,
    options: Sequence[str] = (),
) -> Job:
    """Tests in the lab's root, on the host's kernel, in a network namespace of their own."""
    file = "/src" / (OUT / name.replace("/", "-") / "records.jsonl").relative_to(CHECKOUT)
    command = ("chroot", "--isolated", *options, "--env", f"{records.VARIABLE}={file}", "--")
    return _job(name, (LAB, *command, *_pytest(arguments)), after)


def in_lab(
    name: str,
    command: Sequence[str],
    after: tuple[str, ...] = (BUILD_LAB,),
    *,
    topology: str | None = TOPOLOGY,
    limit: float = 1200.0,
    fresh: Sequence[str] = (),
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Job:
    """A command in a lab with a kernel of its own; what it writes to ``$LAB_OUT`` is kept."""
    network = ("--topology", topology) if topology else ()
    argv = (
        LAB, "run", "--tries", "2", "--limit", f"{limit:.0f}", *network,
        *(word for node in fresh for word in ("--fresh", node)), *options,
        "--env", f"{records.VARIABLE}=/lab/out/records.jsonl", "--", *command,
    )  # fmt: skip
    out = str(OUT / name.replace("/", "-"))
    return _job(name, argv, after, limit=2 * limit + 60, env={"LAB_OUT": out, **(env or {})})


def _pytest(arguments: Sequence[str], timeout: int = 180) -> tuple[str, ...]:
    return (PYTHON, "-m", "pytest", "-v", "--timeout", str(timeout), *arguments)


def _shell(line: str) -> tuple[str, ...]:
    return ("bash", "-euo", "pipefail", "-c", line)


def _job(
    name: str,
    argv: Sequence[str],
    after: tuple[str, ...] = (),
    limit: float = 1200.0,
    env: dict[str, str] | None = None,
) -> Job:
    seconds, load = _expected().get(name, (60.0, 1.0))
    path = {"PATH": f"{TOOLS}:{os.environ['PATH']}"}
    environment = {**path, **(env or {})}
    return Job(name, tuple(argv), seconds, load, after, (), environment, limit)


def _expected() -> dict[str, tuple[float, float]]:
    if not EXPECTED.exists():
        return {}
    return {name: (s, load) for name, (s, load) in tomllib.loads(EXPECTED.read_text()).items()}
