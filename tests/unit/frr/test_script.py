"""Actions to commands, and commands to rejections."""

from dataclasses import replace
from ipaddress import IPv6Network

from srv6mgrd.frr.blocks import MGMTD, block, claim, negated, ours_of, same, slot_of
from srv6mgrd.frr.isis import blocks as isis_blocks
from srv6mgrd.frr.render import render
from srv6mgrd.frr.script import Command, additions, commands, rejections, removals, undone
from srv6mgrd.frr.vty import Answer
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.ports import RejectedAction
from tests.unit.frr.samples import PE1, with_export, with_families

BLOCKS = {b.key: b for b in render(PE1)}
RED = ("router bgp 65000 vrf red",)
RED4 = (*RED, "address-family ipv4 unicast")


def of(*context: str) -> FrrBlock:
    return next(b for b in BLOCKS.values() if b.context == context)


def texts(found: list[Command]) -> list[str]:
    return [c.text for c in found]


def change(before: FrrBlock, *lines: str) -> Replace:
    return Replace(before, replace(before, lines=lines))


def test_each_context_is_entered_once() -> None:
    sent = texts(
        commands(additions([Create(b) for b in BLOCKS.values() if b.daemon == "bgpd"], {}))
    )
    assert sent[:3] == ["router bgp 65000", "bgp router-id 10.0.0.1", "no bgp default ipv4-unicast"]
    assert sent.count("router bgp 65000") == 1
    assert sent.count("router bgp 65000 vrf red") == 1
    assert sent.count("address-family ipv4 unicast") == 2
    assert "end" not in sent


def test_order_does_not_depend_on_that_of_the_actions() -> None:
    actions = [Create(b) for b in BLOCKS.values()]
    assert [s.line for s in additions(actions[::-1], {})][:2] == [
        "source-address fcbb:0:1::1",
        "prefix fcbb:0:1::/48 block-len 32 node-len 16 func-bits 16",
    ]
    instances = [s.context[0] for s in additions(actions[::-1], {}) if s.daemon == "bgpd"]
    assert list(dict.fromkeys(instances)) == [
        "router bgp 65000",
        "router bgp 65000 vrf red",
        "router bgp 65000 vrf watch",
    ]


def test_nothing_differs_nothing_is_sent() -> None:
    actions = [Replace(b, b) for b in BLOCKS.values()]
    assert additions(actions, {}) == []
    assert removals(actions, {}) == []


def test_only_the_lines_that_differ() -> None:
    red = of(*RED4)
    new = [ln for ln in red.lines if "static" not in ln and "rd vpn" not in ln]
    action = change(red, *new, "rd vpn export 65000:11")
    assert [s.line for s in removals([action], {})] == ["no redistribute static"]
    assert [s.line for s in additions([action], {})] == ["rd vpn export 65000:11"]


def test_another_sid_is_written_after_the_old_one_is_cleared() -> None:
    other = with_export(PE1, "red", IPv6Network("fcbb:0:1:65::/64"))
    new = next(b for b in render(other) if b.context == RED)
    sent = texts(commands(additions([Replace(of(*RED), new)], {})))
    assert sent == [*RED, "no sid vpn per-vrf export", "sid vpn per-vrf export 101"]
    assert removals([Replace(of(*RED), new)], {}) == []


def test_another_sid_of_a_family_is_written_after_the_old_one_is_cleared() -> None:
    """bgpd knows no short form of its negation, and looks at no index in the long one."""
    family = (*RED, "address-family ipv4 unicast")
    old = next(b for b in render(with_families(4)) if b.context == family)
    new = replace(
        old, lines=tuple(ln.replace("sid vpn export 4", "sid vpn export 5") for ln in old.lines)
    )
    sent = texts(commands(additions([Replace(old, new)], {})))
    assert sent == [*family, "no sid vpn export 5", "sid vpn export 5"]
    assert removals([Replace(old, new)], {}) == []


def test_a_sid_of_both_families_goes_before_those_of_each_come() -> None:
    then = {b.context: b for b in render(with_families(4, 6))}
    actions = [Replace(b, then[b.context]) for b in render(PE1) if b.context[0] == RED[0]]
    assert [s.line for s in removals(actions, {})] == ["no sid vpn per-vrf export"]
    written = [s.line for s in additions(actions, {}) if not s.optional]
    assert written == ["sid vpn export 4", "sid vpn export 6"]


def test_another_locator_of_bgpd_is_written_after_the_old_one_is_cleared() -> None:
    action = change(of("router bgp 65000", "segment-routing srv6"), "locator OTHER")
    assert texts(commands(additions([action], {}))) == [
        "router bgp 65000",
        "no segment-routing srv6",
        "segment-routing srv6",
        "locator OTHER",
    ]


def test_export_is_paused_while_the_router_id_changes() -> None:
    action = change(of(*RED), "bgp router-id 10.0.0.9", of(*RED).lines[1])
    assert texts(commands(additions([action], BLOCKS))) == [
        *RED,
        "address-family ipv4 unicast",
        "no export vpn",
        "address-family ipv6 unicast",
        "no export vpn",
        *RED,
        "bgp router-id 10.0.0.9",
        "address-family ipv4 unicast",
        "export vpn",
        "address-family ipv6 unicast",
        "export vpn",
    ]


def test_another_prefix_makes_a_new_locator() -> None:
    locator = of("segment-routing", "srv6", "locators", "locator MAIN")
    action = change(locator, "prefix fcbb:0:7::/48 block-len 32 node-len 16 func-bits 16")
    assert texts(commands(additions([action], {})))[3:] == [
        "no locator MAIN",
        "locator MAIN",
        "prefix fcbb:0:7::/48 block-len 32 node-len 16 func-bits 16",
    ]


def test_removed_vrf_goes_as_a_whole() -> None:
    actions = [Delete(b) for b in BLOCKS.values() if b.context[0] == RED[0]]
    steps = removals(actions, BLOCKS)
    assert [(s.context, s.line) for s in steps] == [((), f"no {RED[0]}")]


def test_an_instance_of_isisd_loses_its_locator_first() -> None:
    """With the instance alone its SIDs would stay in the kernel."""
    isis = Isis("49.0001", "0000.0000.0001", "MAIN", interfaces=(IsisInterface("lo"),))
    standing = {b.key: b for b in isis_blocks(isis, {})}
    steps = removals([Delete(b) for b in standing.values()], standing)
    lines = [s.line for s in steps if s.context[:1] != ("interface lo",)]
    assert lines == ["no locator MAIN", "no router isis srv6mgr"]


def test_operators_lines_keep_the_instance_alive() -> None:
    running = dict(BLOCKS)
    seen = running[of(*RED).key]
    running[seen.key] = replace(seen, lines=(*seen.lines, "neighbor 10.0.0.9 remote-as 65100"))
    actions = [Delete(b) for b in BLOCKS.values() if b.context[0] == RED[0]]
    lines = [s.line for s in removals(actions, running)]
    assert "no router bgp 65000 vrf red" not in lines
    assert not any("10.0.0.9" in line for line in lines)
    assert lines[-2:] == ["no sid vpn per-vrf export", "no bgp router-id 10.0.0.1"]
    assert lines.count("no export vpn") == 2


def test_lines_of_a_profile_are_nobodys() -> None:
    running = dict(BLOCKS)
    seen = running[of(*RED).key]
    running[seen.key] = replace(seen, lines=(*seen.lines, "no bgp ebgp-requires-policy"))
    actions = [Delete(b) for b in BLOCKS.values() if b.context[0] == RED[0]]
    assert [s.line for s in removals(actions, running)] == ["no router bgp 65000 vrf red"]


def test_everything_goes_users_first() -> None:
    lines = [s.line for s in removals([Delete(b) for b in BLOCKS.values()], BLOCKS)]
    assert lines[:2] == ["no router bgp 65000 vrf red", "no router bgp 65000 vrf watch"]
    assert lines[2:] == ["no router bgp 65000", "no locator MAIN", "no source-address fcbb:0:1::1"]


def test_neighbor_goes_with_its_lines() -> None:
    speaker = of("router bgp 65000")
    action = change(speaker, *speaker.lines[:2])
    assert [s.line for s in removals([action], {})] == ["no neighbor fcbb:0:2::1 remote-as 65000"]


def test_negations() -> None:
    assert negated("sid vpn per-vrf export 100") == "no sid vpn per-vrf export"
    assert negated("rd vpn export 1:1") == "no rd vpn export 1:1"
    assert negated("rt vpn both 1:1 2:2") == "no rt vpn both 1:1 2:2"
    assert negated("no bgp default ipv4-unicast") == "bgp default ipv4-unicast"
    assert negated("neighbor fc00::1 remote-as 1") == "no neighbor fc00::1 remote-as 1"
    assert negated("redistribute connected") == "no redistribute connected"
    assert negated("locator MAIN") == "no locator MAIN"
    assert slot_of("redistribute connected") is None


def test_rejection_names_line_and_words_and_only_its_action() -> None:
    actions: list[Action] = [Create(of(*RED)), Create(of(*RED4))]
    sent = commands(additions(actions, {}))
    answers = [Answer(13 if "rd vpn" in c.text else 0, "% Malformed rd\n") for c in sent]
    (found,) = rejections(sent, answers, "").values()
    assert found[0] is actions[1]
    where = "router bgp 65000 vrf red / address-family ipv4 unicast / rd vpn export 65000:10"
    assert found[1] == f"bgpd: Malformed rd (at '{where}')"


def test_a_password_is_in_no_error_message_log_or_traceback() -> None:
    """FRR repeats the line: ``[bgpd] Unknown command: neighbor fd00::1 password secret``."""
    line = "neighbor fd00::1 password Secret#1"
    action = Create(block("bgpd", RED, (line,)))
    sent = commands(additions([action], {}))
    for status, text in ((2, f"% [bgpd] Unknown command: {line}\n"), (13, "% Failed\n")):
        (found,) = rejections(sent, [Answer(status, text)] * len(sent), "").values()
        assert "fd00::1 password ..." in found[1]
        assert "Secret#1" not in found[1]
    for shown in (sent, action, RejectedAction(action, 0, "words"), additions([action], {})):
        assert "Secret#1" not in repr(shown)
        assert "Secret#1" not in str(shown)


def test_rejected_context_rejects_all_that_stands_in_it() -> None:
    actions: list[Action] = [Create(of(*RED)), Create(of(*RED4))]
    sent = commands(additions(actions, {}))
    answers = [Answer(13, "BGP is already running; AS is 1\n"), *[Answer(2, "?")] * len(sent)]
    message = [w for _, w in rejections(sent, answers[: len(sent)], "").values()]
    assert len(message) == 2
    assert all("BGP is already running; AS is 1" in w for w in message)


def test_unanswered_commands_are_rejected() -> None:
    sent = commands(additions([Create(of(*RED))], {}))
    ((_, message),) = rejections(sent, [], "bgpd closed the session").values()
    assert "bgpd closed the session" in message


def test_empty_context_is_rejected_when_it_is() -> None:
    empty = Create(block("bgpd", ["router bgp 65000 vrf x"], []))
    sent = commands(additions([empty], {}))
    assert texts(sent) == ["router bgp 65000 vrf x"]
    assert rejections(sent, [Answer(13, "no")], "")
    assert not rejections(sent, [Answer(0, "")], "")


def test_same_and_ours() -> None:
    wanted = of(*RED)
    seen = replace(wanted, lines=("neighbor 10.0.0.9 remote-as 65100", *wanted.lines))
    assert same(wanted, seen)
    assert not same(wanted, replace(seen, lines=seen.lines[:1]))
    assert ours_of(seen, wanted) == wanted
    assert ours_of(seen, wanted, ["neighbor 10.0.0.8 remote-as 1"]) == wanted
    assert ours_of(seen, None, wanted.lines) == wanted
    left = ours_of(seen, replace(wanted, lines=("sid vpn per-vrf export 5",)), wanted.lines)
    assert left.lines == wanted.lines


def test_claim_leaves_contexts_of_others_out() -> None:
    foreign = block("bgpd", ["route-map X permit 10"], ["set metric 1"])
    old = block("bgpd", ["router bgp 65000 vrf gone"], ["sid vpn per-vrf export 9"])
    observed = {**BLOCKS, foreign.key: foreign, old.key: old}
    found = claim(observed, BLOCKS.values(), {old.key: old.lines})
    assert found == {**BLOCKS, old.key: old}


ROUTE = ("ip route 10.9.0.0/24 10.1.0.10", "ip route 10.9.0.0/24 blackhole 254")


def test_what_others_undid_is_left_to_do() -> None:
    red = replace(block(MGMTD, ("vrf red",), ROUTE), part="ip route 10.9.0.0/24")
    old = replace(red, lines=("ip route 10.9.0.0/24 10.1.0.11",))
    half = replace(red, lines=ROUTE[:1])
    create, change, delete = Create(red), Replace(old, red), Delete(red)

    assert undone([create, change], {red.key: red}) == []
    assert undone([delete], {}) == []
    assert undone([create], {}) == [Replace(replace(red, lines=()), red)]
    assert undone([create], {red.key: half}) == [Replace(half, red)]
    both = replace(red, lines=(*old.lines, *ROUTE))
    assert undone([change], {red.key: both}) == [Replace(both, red)]
    assert undone([delete], {red.key: half}) == [Delete(half)]


def test_what_a_profile_implies_is_not_left_to_remove() -> None:
    lines = ("no ip nht resolve-via-default", "no ipv6 nht resolve-via-default")
    red = block(MGMTD, ("vrf red",), lines)
    assert undone([Delete(red)], {red.key: red}) == []
