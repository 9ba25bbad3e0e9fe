"""Parts of the configuration: shown, set and deleted."""

from __future__ import annotations

import json
import shlex

import pytest

from srv6mgrd.cli.problem import Exit
from tests.contract.cli.conftest import SID, Ctl

_SRV6 = "srv6mgr-srv6:srv6"
TREE = {
    "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
    "vrfs": {"vrf": [{"name": "red", "table-id": 10, "interface": ["eth1", "eth2"]}]},
    "local-sids": {
        "sid": [{"prefix": SID, "locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}]
    },
}


@pytest.fixture
def declared(ctl: Ctl) -> Ctl:
    done = ctl.run("apply", "-", given=json.dumps({_SRV6: TREE}))
    assert done.status == 0, done.err
    return ctl


def test_all_of_it_by_words(declared: Ctl) -> None:
    shown = declared.run("show", "config")
    assert shown.status == 0, shown.err
    assert "vrf red table-id 10 interface eth1 interface eth2" in shown.out.splitlines()
    before = declared.running()
    declared.run("apply", "--replace", "--empty", "-", given="{}")
    for line in shown.out.splitlines():
        done = declared.run("set", "--yes", *shlex.split(line))
        assert done.status == 0, (line, done.err)
    assert declared.running() == before


def test_a_part_in_each_format(declared: Ctl) -> None:
    for words in (("vrf", "red"), ("vrfs/vrf[name=red]",)):
        shown = declared.run("show", "config", *words, "--json").json
        (vrf,) = shown[_SRV6]["vrfs"]["vrf"]
        assert (vrf["name"], vrf["table-id"]) == ("red", 10)
        assert shown[_SRV6].keys() == {"vrfs"}
    xml = declared.run("show", "config", "sid", SID, "--format", "xml")
    assert "<behavior>End.DT46</behavior>" in xml.out
    assert "<vrfs>" not in xml.out
    absent = declared.run("show", "config", "vrf", "blue")
    assert absent.status == Exit.REJECTED
    assert absent.err == "srv6ctl: vrf blue: it is not declared; see srv6ctl show config\n"
    wrong = declared.run("show", "config", "vfr")
    assert wrong.status == Exit.USAGE
    assert "one of " in wrong.err


def test_startup(declared: Ctl) -> None:
    startup = declared.run("show", "config", "--datastore", "startup", "--json")
    assert startup.status == 0, startup.err


def test_set_shows_what_it_does(declared: Ctl) -> None:
    words = ("sid", "fcbb:0:1:70::/64", "locator", "MAIN", "behavior", "End")
    dry = declared.run("set", *words, "--dry-run")
    assert dry.status == 0, dry.err
    assert "local-sids/sid[prefix='fcbb:0:1:70::/64']/behavior" in dry.out
    assert "ip -6 route add" in dry.out
    assert len(declared.running()["local-sids"]["sid"]) == 1
    assert declared.run("set", *words).status == Exit.USAGE  # nobody can be asked
    done = declared.run("set", *words, "--yes", "--json").json
    assert (done["changed"], done["transaction"]["user"]) == (True, "alice")
    assert len(declared.running()["local-sids"]["sid"]) == 2
    again = declared.run("set", *words, "--yes")
    assert again.out == "nothing to do: that is the running configuration already\n"


def test_values_of_every_type(declared: Ctl) -> None:
    words = "locator M2 prefix fcbb:0:2::/48 block-length 16 node-length 32 micro-segment true"
    done = declared.run("set", "--yes", *words.split())
    assert done.status == 0, done.err
    locator = next(e for e in declared.running()["locators"]["locator"] if e["name"] == "M2")
    assert (locator["block-length"], locator["micro-segment"]) == (16, True)
    # An identity of another module, and a container of one.
    proxy = "sid fcbb:0:1:90::/64 locator MAIN behavior End.AD"
    proxy += " proxy inner-type ipv4 interface in0 next-hop 10.9.0.2"
    done = declared.run("set", "--yes", *proxy.split())
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    "words", ["vrf red table-id many", "vrf blue", "sid fcbb:0:9::/64 behavior End.Nothing"]
)
def test_what_the_model_rejects(declared: Ctl, words: str) -> None:
    rejected = declared.run("set", "--yes", *words.split())
    assert rejected.status == Exit.REJECTED, rejected.out
    assert rejected.err.startswith("srv6ctl: ")
    assert "Traceback" not in rejected.err


def test_delete(declared: Ctl) -> None:
    whole = declared.run("delete", "vrf", "--yes")
    assert (whole.status, "name one" in whole.err) == (Exit.USAGE, True)
    absent = declared.run("delete", "vrf", "blue", "--yes")
    assert (absent.status, "it is not declared" in absent.err) == (Exit.REJECTED, True)
    port = declared.run("delete", "vrf", "red", "interface", "eth2", "--yes")
    assert port.status == 0, port.err
    assert declared.running()["vrfs"]["vrf"][0]["interface"] == ["eth1"]
    kept = declared.run("delete", "vrf", "red", "--yes")  # its SID refers to it
    assert kept.status == Exit.REJECTED, kept.out
    gone = declared.run("delete", "sid", SID, "--yes")
    assert gone.status == 0, gone.err
    assert "local-sids" not in declared.running()


def test_a_change_to_be_confirmed(declared: Ctl) -> None:
    done = declared.run("delete", "sid", SID, "--yes", "--confirm-within", "10m", "--id", "one")
    assert "commit one is undone in 600 s" in done.out
    declared.run("cancel")
    assert "local-sids" in declared.running()
