"""``show accounting``."""

from srv6mgrd.counters.accounting import AccountingWriter, beside

COUNTED = {"packets": "7", "inner-octets": "588", "outer-octets": "1036"}
SENT = {
    "vrf": "red",
    "address-family": "ipv4",
    "segments": "fcbb:0:7:: fcbb:0:2:64::",
    "segment-list": "by-way-of-7",
    "remote-sid": "fcbb:0:2:64::",
    "remote-locator": "fcbb:0:2::/48",
    **COUNTED,
}
RECEIVED = {"vrf": "red", "address-family": "ipv4", "source": "2001:db8::2", **COUNTED}
OTHER = {"direction": "received", "address-family": "ipv6", **COUNTED}


def report(ctl, found, path):
    ctl.report()
    AccountingWriter(beside(path / "store")).write(found)


def test_rows_of_both_directions(ctl, tmp_path):
    report(ctl, {"sent": [SENT], "received": [RECEIVED], "other": [OTHER]}, tmp_path)
    shown = ctl.run("show", "accounting")
    assert [line.split() for line in shown.out.splitlines()[1:]] == [
        ["sent", "red", "ipv4", "fcbb:0:2:64::", "by-way-of-7", "7", "588", "1036"],
        ["received", "red", "ipv4", "2001:db8::2", "7", "588", "1036"],
        ["received", "-", "ipv6", "other", "7", "588", "1036"],
    ]


def test_the_rows_of_a_locator(ctl, tmp_path):
    report(ctl, {"sent": [SENT], "received": [RECEIVED]}, tmp_path)
    shown = ctl.run("show", "accounting", "--locator", "fcbb:0:2::/48", "--json")
    assert shown.json == {"accounting": [{"direction": "sent", **SENT}]}


def test_nothing_while_it_is_not_enabled(ctl, tmp_path):
    report(ctl, None, tmp_path)
    shown = ctl.run("show", "accounting")
    assert (shown.out, shown.err) == (
        "",
        "srv6ctl: no packet was accounted; srv6ctl set accounting enabled true begins it\n",
    )
