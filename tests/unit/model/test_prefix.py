"""A prefix of many is in all that matters the one of the standard library."""

from __future__ import annotations

import copy
import pickle
from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.model.prefix import Prefix

ADDRESSES = st.integers(0, (1 << 128) - 1)


@given(ADDRESSES, st.integers(0, 128))
def test_it_is_the_plain_network_in_few_bytes(address: int, length: int) -> None:
    text = f"{IPv6Address(address)}/{length}"
    plain = IPv6Network(text, strict=False)

    for ours in (Prefix.parse(text), Prefix(text, strict=False)):
        assert ours == plain
        assert plain == ours
        assert hash(ours) == hash(plain)
        assert (str(ours), ours.prefixlen) == (str(plain), length)
        assert ours.network_address == plain.network_address
        assert ours.packed == plain.network_address.packed
        assert (ours.netmask, ours.hostmask) == (plain.netmask, plain.hostmask)
        assert ours.broadcast_address == plain.broadcast_address
        assert ours.num_addresses == plain.num_addresses
        assert copy.deepcopy(ours) == pickle.loads(pickle.dumps(ours)) == plain
        assert not hasattr(ours, "__dict__") or not ours.__dict__


@given(ADDRESSES, ADDRESSES, st.integers(0, 128), st.integers(0, 128))
def test_it_compares_with_others_as_the_plain_one(a: int, b: int, m: int, n: int) -> None:
    one, other = (f"{IPv6Address(x)}/{length}" for x, length in ((a, m), (b, n)))
    ours, theirs = Prefix.parse(one), Prefix.parse(other)
    plain, of_theirs = IPv6Network(one, strict=False), IPv6Network(other, strict=False)

    assert (ours == theirs) == (plain == of_theirs)
    assert (ours < theirs) == (plain < of_theirs)
    assert ours.overlaps(theirs) == plain.overlaps(of_theirs)
    assert ours.subnet_of(theirs) == plain.subnet_of(of_theirs)


@pytest.mark.parametrize("text", ["", "x", "::/129", "::/-1", "10.0.0.0/8"])
def test_what_is_no_prefix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Prefix.parse(text)
