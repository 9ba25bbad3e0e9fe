"""VPN routes as ExaBGP writes them."""

from tests.robot.library.exabgp import Route, routes

AT = "neighbor 2001:db8::1 receive update"
PATH = "origin incomplete med 0 local-preference 100 extended-community target:65000:10"
SERVICE = "bgp-prefix-sid [ l3-service [ sid-information [ sid:{} flags:0 endpoint_behavior:0x14 "


def announced(sid: str, label: int, structure: str) -> str:
    return (
        f"{AT} start\n"
        f"{AT} announced 10.1.0.0/24 label {label} next-hop 2001:db8::1 rd 65000:110 {PATH}"
        f" {SERVICE.format(sid)} [ sid-structure [{structure}] ] ] ]\n"
        f"{AT} end\n\n"
    )


def test_the_function_rides_in_the_label():
    found = routes(announced("fcbb:0:1::", 1600, "32,16,16,0,16,48"))

    route = Route("fcbb:0:1:64::", "0x14", "2001:db8::1", "target:65000:10")
    assert found == {("65000:110", "10.1.0.0/24"): route}


def test_without_transposition_the_label_says_nothing():
    found = routes(announced("fcbb:0:1:64::", 3, "32,16,16,0,0,0"))

    assert [route.sid for route in found.values()] == ["fcbb:0:1:64::"]


def test_the_last_word_counts():
    once = announced("fcbb:0:1::", 1600, "32,16,16,0,16,48")
    again = announced("fcbb:0:1::", 1904, "32,16,16,0,16,48")
    gone = f"{AT} withdrawn 10.1.0.0/24 label 0 rd 65000:110\n"

    assert [route.sid for route in routes(once + again).values()] == ["fcbb:0:1:77::"]
    assert routes(once + gone) == {}
    assert routes(f"{AT} route eor 1/128 (ipv4 mpls-vpn)\n") == {}
