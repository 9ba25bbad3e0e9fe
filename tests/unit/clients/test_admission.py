"""Which connections are open, and which give way."""

from __future__ import annotations

from srv6mgrd.clients.admission import Admission, Admitted, Limits, Rejected
from srv6mgrd.clients.peer import Peer, read

LIMITS = Limits(total=10, per_peer=4, seconds=20)


def arrive(admission: Admission, number: int, group: str, now: float = 0.0) -> object:
    return admission.arrive(number, group, now, authenticated=False)


def test_idle_connections_lock_nobody_out() -> None:
    """Ten of three clients fill all places; a newcomer displaces the oldest of the greediest."""
    admission = Admission(LIMITS)
    for number in range(4):
        assert arrive(admission, number, "flood") == Admitted()
        assert arrive(admission, 10 + number, "other flood") == Admitted()
    for number in (20, 21):
        assert arrive(admission, number, "small") == Admitted()
    assert arrive(admission, 30, "newcomer") == Admitted(displaced=0)
    # "other flood" has more than "flood" now.
    assert arrive(admission, 31, "newcomer") == Admitted(displaced=10)


def test_a_client_displaces_its_own_idle_connections_first() -> None:
    admission = Admission(LIMITS)
    for number in range(4):
        arrive(admission, number, "flood")
    assert arrive(admission, 4, "flood") == Admitted(displaced=0)
    assert arrive(admission, 5, "other") == Admitted()


def test_who_has_authenticated_is_not_displaced() -> None:
    admission = Admission(LIMITS)
    for number in range(4):
        arrive(admission, number, "collector")
        admission.authenticate(number)
    verdict = arrive(admission, 4, "collector")
    assert isinstance(verdict, Rejected)
    assert "max_connections_per_peer" in verdict.reason
    for number in range(10, 16):
        arrive(admission, number, f"client {number}")
        admission.authenticate(number)
    verdict = arrive(admission, 20, "newcomer")
    assert isinstance(verdict, Rejected)
    assert "max_connections" in verdict.reason
    admission.leave(10)
    assert arrive(admission, 20, "newcomer") == Admitted()


def test_who_does_not_authenticate_in_time_is_overdue() -> None:
    admission = Admission(LIMITS)
    arrive(admission, 1, "a", now=0)
    arrive(admission, 2, "b", now=5)
    arrive(admission, 3, "c", now=6)
    admission.authenticate(2)
    admission.arrive(4, "uid 0", 0, authenticated=True)
    assert admission.overdue(19.9) == []
    assert admission.overdue(20) == [1]
    admission.leave(1)
    assert admission.overdue(100) == [3]


def test_a_peer_is_read_from_the_name_of_its_socket() -> None:
    for peer in (
        Peer(17, "2001:db8::1", 51234),
        Peer(18, "192.0.2.1", 1),
        Peer(19, "fe80::1%eth0", 5),
        Peer(20, uid=1000),
    ):
        assert read(f"unix:/tmp/srv6-gnmid-x/{peer.file()}") == peer
    assert read("unix:") == Peer()
    assert read("ipv4:127.0.0.1:5") == Peer()


def test_peers_are_counted_by_address_site_and_user() -> None:
    assert Peer(1, "192.0.2.1", 5).group == "192.0.2.1"
    assert Peer(1, "::ffff:192.0.2.1", 5).group == "192.0.2.1"
    assert Peer(1, "2001:db8::1", 5).group == Peer(2, "2001:db8::2", 6).group == "2001:db8::/64"
    assert Peer(1, "fe80::1%eth0").group != Peer(1, "fe80::2%eth0").group
    assert Peer(1, "::1").group == "::1"
    assert Peer(1, uid=1000).group == "uid 1000"


def test_an_address_is_shown_as_its_family_writes_it() -> None:
    assert Peer(1, "::ffff:192.0.2.1", 9).host == "192.0.2.1"
    assert Peer(1, "2001:db8::1", 9).host == "2001:db8::1"
    assert Peer(1, "fe80::1%eth0", 9).host == "fe80::1%eth0"
    assert Peer(1, uid=0).host == ""
