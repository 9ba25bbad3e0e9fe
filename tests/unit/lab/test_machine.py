"""What is said when a machine dies, and what a kernel must have accepted."""

from __future__ import annotations

import os
import re

from lab import kernel
from lab.machine import death_of, thread_states


def test_death_names_the_panic_and_shows_the_console() -> None:
    console = "boot\nKernel panic - not syncing: x\n\n" + "trace\n" * 30
    reported = str(death_of(console, 134)).splitlines()
    assert reported[0] == "machine: died: Kernel panic - not syncing: x"
    assert reported[-1] == "| trace"
    assert len(reported) == 21


def test_death_without_a_panic_names_the_status() -> None:
    assert str(death_of("", 1)) == "machine: died: its process ended with status 1"


def test_lost_options_are_those_not_in_the_final_configuration() -> None:
    fragment = "# c\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_N=8\n"
    final = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_N=8\n"
    assert kernel.lost_options(fragment, final) == ["CONFIG_B=y"]


def test_the_fragment_names_each_option_once() -> None:
    names = [line.split("=")[0] for line in kernel.lost_options(kernel.FRAGMENT.read_text(), "")]
    assert len(names) == len(set(names))


def test_thread_states_name_process_state_and_cpu_seconds() -> None:
    assert all(re.fullmatch(r".+ [A-Z] \d+", state) for state in thread_states(os.getpid()))
    assert thread_states(os.getpid())
