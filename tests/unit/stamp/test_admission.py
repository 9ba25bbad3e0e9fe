"""The reflector's default is to answer nobody, and nobody without bounds."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

from srv6mgrd.stamp.admission import IN_ALL, PER_SENDER, Admission

S = 1_000_000_000
CORE = IPv6Network("2001:db8::/120")


def test_without_prefixes_nobody_is_answered() -> None:
    assert not Admission((), 0).admits("2001:db8::1", 0)


def test_only_declared_prefixes() -> None:
    admission = Admission((CORE, IPv6Network("fe80::/64")), 0)
    assert admission.admits("2001:db8::1", 0)
    assert admission.admits("fe80::1%to-p", 0)
    assert not admission.admits("2001:db8::100", 0)


def test_prefixes_of_one_family_are_none_of_the_other() -> None:
    admission = Admission((IPv4Network("0.0.0.0/0"),), 0)
    assert admission.admits("192.0.2.1", 0)
    assert not admission.admits("::c000:201", 0)
    assert not Admission((IPv6Network("::/0"),), 0).admits("192.0.2.1", 0)


def test_a_sender_has_a_rate() -> None:
    admission = Admission((CORE,), 0)
    assert sum(admission.admits("2001:db8::1", 0) for _ in range(2 * PER_SENDER)) == PER_SENDER
    assert admission.admits("2001:db8::2", 0)
    assert sum(admission.admits("2001:db8::1", S // 2) for _ in range(PER_SENDER)) == PER_SENDER / 2


def test_all_senders_have_a_rate() -> None:
    admission = Admission((CORE,), 0)
    answered = sum(
        admission.admits(f"2001:db8::{sender:x}", 0)
        for sender in range(1, 100)
        for _ in range(PER_SENDER)
    )
    assert answered == IN_ALL
