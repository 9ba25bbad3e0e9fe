"""zebra knows a VRF before anything is put into it, and is done with it before it goes."""

import errno
import json

import pytest

from srv6mgrd.frr import vrfs, waiting
from srv6mgrd.frr.vty import VtyError

IDLE = """dataplane Incoming Queue from Zebra: 0
Zebra dataplane providers:
  Kernel (1): in: 75, q: 0, q_max: 24, out: 75, q: 0, q_max: 26
dataplane Outgoing Queue to Zebra: 0
"""
BUSY = [
    IDLE.replace("from Zebra: 0", "from Zebra: 2"),
    IDLE.replace("in: 75, q: 0", "in: 76, q: 1"),
    IDLE.replace("out: 75", "out: 74"),
    IDLE.replace("to Zebra: 0", "to Zebra: 1"),
]
ROUTES = json.dumps({"10.2.0.0/24": [{"protocol": "bgp"}]})


class Zebra:
    """Answers each question with the next of its answers; the last one stays."""

    def __init__(self, routes, dataplane):
        self.answers = {"route": list(routes), "dplane": list(dataplane)}
        self.asked = []

    def show(self, daemon, command):
        assert daemon == "zebra"
        self.asked.append(command)
        answers = self.answers["dplane" if "dplane" in command else "route"]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Knows:
    """Lists the VRFs as they come up, one answer after the other."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def show(self, daemon, command):
        assert (daemon, command) == ("zebra", "show vrf")
        return self.answers.pop(0)


def test_a_vrf_is_met_when_it_is_active():
    zebra = Knows("", "vrf red inactive\n", "vrf red id 268435466 table 10\n")

    vrfs.meet(zebra, ["red"])

    assert not zebra.answers


class Learning:
    """Learns so many VRFs a second, and forgets them again at the same rate."""

    def __init__(self, names, rate):
        self.names, self.rate, self.now = names, rate, 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def show(self, daemon, command):
        learnt = self.names[: int(self.now * self.rate)]
        left = [name for name in self.names if name not in learnt]
        return "".join(f"vrf {name} id 7 table 10\n" for name in self.shown(learnt, left))


@pytest.mark.parametrize("waiting_for", ["meet", "see_off"])
def test_many_vrfs_have_more_time(monkeypatch, caplog, waiting_for):
    """zebra takes 1,000 devices one after the other, while it does other work."""
    names = [f"v{number}" for number in range(1000)]
    zebra = Learning(names, rate=50)
    zebra.shown = lambda learnt, left: learnt if waiting_for == "meet" else left
    monkeypatch.setattr(waiting, "time", zebra)

    getattr(vrfs, waiting_for)(zebra, names)

    assert zebra.now == pytest.approx(20, abs=0.2)
    assert caplog.text == ""


def test_a_name_within_another_is_not_that_vrf(monkeypatch, caplog):
    zebra = Learning(["red"], rate=1e9)
    zebra.shown = lambda *_: ["infra", "vrf-red"]
    monkeypatch.setattr(waiting, "time", zebra)

    vrfs.meet(zebra, ["red"])

    assert "zebra does not know VRFs red yet" in caplog.text


def test_a_vrf_is_seen_off_when_it_is_no_longer_active():
    there = "vrf red id 268435466 table 10\n"
    zebra = Knows(there, there, "vrf red inactive\n")

    vrfs.see_off(zebra, ["red"])

    assert not zebra.answers


def test_routes_are_waited_for():
    zebra = Zebra([ROUTES, "{}", "{}", ROUTES, "{}\n"], [IDLE])

    vrfs.let_go(zebra, ["red"])

    assert zebra.asked[-2:] == ["show ipv6 route vrf red json", "show zebra dplane providers"]


@pytest.mark.parametrize("busy", BUSY)
def test_the_dataplane_is_waited_for(busy):
    zebra = Zebra(["{}"], [busy, busy, IDLE])

    vrfs.let_go(zebra, ["red"])

    assert zebra.asked.count("show zebra dplane providers") == 3


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_zebra_that_we_lack_descriptors_to_ask_has_time_all_the_same(number):
    class Unasked(Zebra):
        def show(self, daemon, command):
            if len(self.asked) < 5:
                self.asked.append(command)
                raise VtyError(number, "zebra can't be asked (Too many open files)")
            return super().show(daemon, command)

    zebra = Unasked(["{}"], [IDLE])

    vrfs.let_go(zebra, ["red"])

    assert zebra.asked[-1] == "show zebra dplane providers"


def test_a_zebra_out_of_reach_is_not_waited_for():
    class Gone:
        def show(self, daemon, command):
            raise VtyError(111, "zebra can't be reached")

    vrfs.let_go(Gone(), ["red"])


def test_waiting_ends(monkeypatch, caplog):
    monkeypatch.setattr(vrfs, "_DEADLINE", 0.01)

    vrfs.let_go(Zebra([ROUTES], [IDLE]), ["red"])

    assert "still busy" in caplog.text
