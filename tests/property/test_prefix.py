"""Prefix is IPv6Network, only faster and smaller."""

import copy
import pickle
from ipaddress import IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.model.prefix import Prefix

ADDRESSES = st.integers(0, 2**128 - 1)
LENGTHS = st.integers(0, 128)


@given(ADDRESSES, LENGTHS)
def test_is_the_network_that_it_names(address, length):
    plain = IPv6Network((address, length), strict=False)

    for prefix in (
        Prefix.parse(f"{plain.network_address}/{length}"),
        Prefix.parse(IPv6Network((address, 128)).exploded.partition("/")[0] + f"/{length}"),
        Prefix.of(plain.network_address.packed, length),
    ):
        assert prefix == plain
        assert plain == prefix
        assert hash(prefix) == hash(plain)
        assert str(prefix) == str(plain)
        assert prefix.network_address == plain.network_address
        assert prefix.packed == plain.network_address.packed
        assert (prefix.netmask, prefix.hostmask) == (plain.netmask, plain.hostmask)
        assert prefix.broadcast_address == plain.broadcast_address
        assert copy.deepcopy(prefix) == pickle.loads(pickle.dumps(prefix)) == plain
        assert prefix.supernet(new_prefix=0) == IPv6Network("::/0")


@given(ADDRESSES, LENGTHS, ADDRESSES, LENGTHS)
def test_differs_where_the_network_does(address, length, other, other_length):
    a = IPv6Network((address, length), strict=False)
    b = IPv6Network((other, other_length), strict=False)

    ours, theirs = Prefix.parse(str(a)), Prefix.parse(str(b))

    assert (ours == theirs) == (a == b)
    assert (ours < theirs) == (a < b)
    assert ours.overlaps(theirs) == a.overlaps(b)
    assert ours.subnet_of(theirs) == a.subnet_of(b)


@pytest.mark.parametrize("text", ["", "::/129", "::/-1", "::/x", "10.0.0.0/8", "fe80::%eth0/64x"])
def test_what_is_no_prefix_is_rejected(text):
    with pytest.raises(ValueError, match=r"."):
        Prefix.parse(text)
