"""Where a store is, as an operator writes it."""

from __future__ import annotations

import pytest

from srv6net.store.address import EtcdAddress, etcd_address, is_etcd
from srv6net.transaction.ports import StoreError


def test_members_are_listed() -> None:
    assert etcd_address("etcd://10.0.0.1:2379,[2001:db8::1]:2379,etcd3:2379") == EtcdAddress(
        ("10.0.0.1:2379", "[2001:db8::1]:2379", "etcd3:2379")
    )


def test_the_path_is_the_prefix_and_the_query_the_credentials() -> None:
    text = "etcd://a:1/lab/?ca=/ca&cert=/c&key=/k&user=u&password-file=/p&server-name=n"
    assert etcd_address(text) == EtcdAddress(
        ("a:1",), "/lab", True, "/ca", "/c", "/k", "n", "u", "/p"
    )
    assert str(etcd_address(text)) == "etcd://a:1/lab"


def test_encryption_is_left_out_where_that_is_written() -> None:
    assert not etcd_address("etcd://a:1?tls=no").is_encrypted


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("etcd://", "nothing is no HOST:PORT"),
        ("etcd://a:1,b", "b is no HOST:PORT"),
        ("etcd://u:p@a:1", "u:p@a:1 is no HOST:PORT"),
        ("etcd://a:1?caa=/ca", "there is no setting caa"),
        ("etcd://a:1?cert=/c", "cert and key belong together"),
        ("etcd://a:1?user=u", "user and password-file belong together"),
        ("etcd://a:1?tls=off", "tls is yes or no"),
        ("etcd://a:1?tls=no&user=u&password-file=/p", "credentials need TLS"),
    ],
)
def test_what_cannot_be_read_is_rejected(text: str, cause: str) -> None:
    with pytest.raises(StoreError, match=cause):
        etcd_address(text)


def test_a_file_is_no_cluster() -> None:
    assert (is_etcd("/var/lib/x"), is_etcd("etcd://a:1")) == (False, True)
