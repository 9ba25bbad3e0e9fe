"""Every test belongs to a job, and to one only."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.runner import catalogue

CHECKOUT = catalogue.CHECKOUT


def arguments(job: str) -> set[str]:
    return set(catalogue.all_jobs()[job].argv)


def test_each_suite_runs_in_one_job() -> None:
    there = {path.stem for path in catalogue.ROBOT.glob("[a-z]*.robot")}
    there |= {path.parent.name for path in catalogue.ROBOT.glob("*/__init__.robot")}
    named = [name for group in catalogue.SUITES for name in group]
    named += catalogue.NIGHTLY_SUITES
    assert sorted(named) == sorted(there)


def test_each_room_of_contract_tests_runs() -> None:
    rooms = {path.name for path in (CHECKOUT / "tests/contract").glob("[a-z]*") if path.is_dir()}
    named = {*catalogue.ON_HOST, *catalogue.ON_HOST_KERNEL, *catalogue.WITH_PACKAGES}
    named |= {"reconcile", "frr"}
    assert named == rooms


def test_each_file_of_frr_runs_in_one_job() -> None:
    there = {
        str(path.relative_to(CHECKOUT)) for path in CHECKOUT.glob("tests/contract/frr/test_*.py")
    }
    jobs = [name for name in catalogue.all_jobs() if name.startswith("contract/frr-")]
    files = [word for name in jobs for word in arguments(name) if word.endswith(".py")]
    assert sorted(files) == sorted(there)


def test_all_that_a_job_needs_is_run_too() -> None:
    jobs = catalogue.with_needs(["contract/gnmi"])
    assert [job.name for job in jobs] == [
        "build/lab",
        "build/gnmi_cli",
        "build/tunnel_server",
        "contract/gnmi",
    ]


def test_jobs_of_the_night_run_by_name_too() -> None:
    jobs = catalogue.with_needs(["nightly/image"])
    assert [job.name for job in jobs] == ["build/lab", "nightly/image"]
    (upgrade,) = (job for job in catalogue.with_needs(["robot/upgrade"]) if job.stage == "robot")
    assert "--previous" in upgrade.argv


def test_quick_checks_need_no_lab() -> None:
    names = [job.name for job in catalogue.quick()]
    assert "check/ruff" in names
    assert "check/yanglint" not in names
    assert all(name.startswith("check/") for name in names)


def test_expected_times_are_those_of_jobs() -> None:
    nightly = {job.name for job in catalogue.nightly(60, 1)}
    assert set(tomllib.loads(catalogue.EXPECTED.read_text())) <= nightly


@pytest.mark.parametrize(
    ("test", "job"),
    [
        ("tests/unit/runner/test_catalogue.py", "unit/one"),
        ("tests/contract/gnmi/test_set.py::test_any", "contract/one"),
        ("tests/contract/frr/test_vpn.py::test_vpn", "contract/one"),
        ("tests/robot/vpn.robot::SONiC Finds Every SID", "robot/vpn"),
    ],
)
def test_one_test_runs_where_it_belongs(test: str, job: str) -> None:
    jobs = catalogue.one(test)
    assert jobs[-1].name == job
    assert test.rpartition("::")[2] in " ".join(jobs[-1].argv)


def test_a_folder_of_suites_is_one_job_and_each_file_is_named_by_its_path() -> None:
    jobs = catalogue.all_jobs()
    assert jobs["robot/fortress"].argv[-1] == "fortress"
    assert not [name for name in jobs if name.startswith("robot/fortress-")]
    assert catalogue.one("tests/robot/fortress/processes.robot")[-1].name == (
        "robot/fortress-processes"
    )
    case = catalogue.one("tests/robot/fortress/processes.robot::A Case")[-1]
    assert case.argv[-4:] == ("fortress/processes", "--", "--test", "A Case")


def test_a_suite_by_name_brings_what_it_needs() -> None:
    names = [job.name for job in catalogue.suite(["dashboard"])]
    assert names == ["build/lab", "robot/dashboard"]
    assert "build/gobgp_peer" in {job.name for job in catalogue.suite(["interoperation"])}


def test_a_name_of_no_suite_is_rejected_before_anything_is_built() -> None:
    with pytest.raises(ValueError, match=r"vpnn is no suite; there are .*, vpn, vrf"):
        catalogue.suite(["vpnn"])


def test_a_soak_runs_the_campaign_and_the_tests_with_one_seed() -> None:
    _, *jobs = catalogue.soak(60, 7)
    assert [job.name for job in jobs] == ["soak/chaos", "soak/lab"]
    assert all(job.argv[-4:] == ("--seconds", "60", "--seed", "7") for job in jobs)


def test_what_is_no_test_is_rejected() -> None:
    for wrong in ("tests/unit/nothing.py", "README.md", str(Path("/etc/passwd"))):
        with pytest.raises(ValueError, match="is no test"):
            catalogue.one(wrong)
