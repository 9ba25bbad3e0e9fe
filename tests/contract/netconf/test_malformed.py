"""What is no message is answered as RFC 6241 and RFC 6242 say, and harms nobody else."""

from __future__ import annotations

import os
import random
import socket

import pytest

from tests.contract.netconf.client import texts, with_namespaces
from tests.contract.netconf.conftest import Server
from tests.contract.netconf.data import ROUTER, SID
from tests.contract.netconf.wire import BASE, END, HELLO, Wire, framed

# Spoilt messages in a run; NETCONF_FUZZ=100000 makes it a long one.
MESSAGES = int(os.environ.get("NETCONF_FUZZ", "500"))


def alive(server: Server) -> None:
    assert server.process.poll() is None, server.log.read_text()[-3000:]
    with Wire(server.socket) as wire:
        assert texts(wire.call("<close-session/>"), "//nc:ok") == ["ok"]


@pytest.mark.parametrize(
    ("frame", "tag"),
    [
        (b"\n#99999999999999999999\n", "malformed-message"),
        (b"\n#4294967296\nx", "malformed-message"),
        (b"\n#4294967295\nx", "too-big"),
        (b"\n#300000000\nx", "too-big"),
        (b"\n#0\n", "malformed-message"),
        (b"\n#01\nx", "malformed-message"),
        (b"\n#-1\nx", "malformed-message"),
        (b"\n##\n", "malformed-message"),
        (b"\nx", "malformed-message"),
        (b"garbage", "malformed-message"),
        (b"\n#5\nabcdefgh", "malformed-message"),
        (b"]]>]]>", "malformed-message"),
        (b"\x00" * 64, "malformed-message"),
    ],
)
def test_framing_that_is_broken(server: Server, frame: bytes, tag: str) -> None:
    with Wire(server.socket) as wire:
        wire.send(frame)
        reply = wire.reply()
        assert texts(reply, "//nc:error-tag") == [tag]
        assert wire.ended()
    alive(server)


@pytest.mark.parametrize(
    "message",
    [
        b"", b"x", b"<rpc>", b"<rpc", b"<a/>", b"\xff\xfe\x00", b"<?xml version='1.0'?>",
        b'<rpc xmlns="urn:x" message-id="1"><get/></rpc>',
        b'<rpc message-id="1"><get/></rpc>',
        f'<rpc xmlns="{BASE}" message-id="1"/>'.encode(),
        f'<rpc xmlns="{BASE}" message-id="1"><get/></rpc><more/>'.encode(),
        f'<rpc xmlns="{BASE}" message-id="1"><get></rpc>'.encode(),
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
        b"<a>" * 5000,
        f'<rpc xmlns="{BASE}" message-id="1"><get>&#0;</get></rpc>'.encode(),
    ],
)  # fmt: skip
def test_messages_that_are_no_rpc(server: Server, message: bytes) -> None:
    with Wire(server.socket) as wire:
        wire.send(framed(message) if message else b"\n#1\n \n##\n")
        reply = wire.reply()
        tags = texts(reply, "//nc:error-tag")
        known = {"malformed-message", "unknown-element", "unknown-namespace", "missing-attribute"}
        assert tags
        assert set(tags) <= known | {"operation-failed", "missing-element"}
        assert texts(wire.call("<discard-changes/>"), "//nc:ok") == ["ok"]


@pytest.mark.parametrize(
    "hello",
    [
        b"x", b"<hello/>", HELLO.encode()[:40],
        HELLO.replace("base:1.1", "base:9.9").encode(),
        HELLO.replace("<hello", "<goodbye").encode(),
        HELLO.replace("</capabilities>", "</capabilities><session-id>4</session-id>").encode(),
    ],
)  # fmt: skip
def test_hellos_that_are_none(server: Server, hello: bytes) -> None:
    with Wire(server.socket, hello=hello) as wire:
        assert wire.ended()
    alive(server)


def test_one_that_ends_in_the_middle(server: Server) -> None:
    for frame in (b"\n#10\nabc", b"\n#1", b"\n", b""):
        with Wire(server.socket) as wire:
            wire.send(frame)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(server.socket))
        sock.sendall(b"<hello")
    alive(server)


def test_one_in_base_1_0_that_is_no_rpc(server: Server) -> None:
    """RFC 6241 section 3: it may end the session; there is no number to answer to."""
    hello = HELLO.replace("base:1.1", "base:1.0")
    with Wire(server.socket, hello=hello.encode()) as wire:
        wire.send(b"<rpc>" + END)
        assert wire.ended()
    alive(server)


@pytest.mark.parametrize(
    "attributes",
    [
        'message-id="1" message-id="2"',
        'message-id="1" a="1" a="2"',
        'message-id="1" xmlns:x="urn:x" x:a="1" x:a="2"',
        'message-id="1" xmlns:x="urn:x" xmlns:y="urn:x" x:a="1" y:a="2"',
        'message-id="1" xmlns:x="urn:x" xmlns:x="urn:y"',
    ],
)
def test_an_attribute_twice(server: Server, attributes: str) -> None:
    """No well-formed XML; the reply, which has the attributes of the rpc, is."""
    with Wire(server.socket) as wire:
        reply = wire.ask(f'<rpc xmlns="{BASE}" {attributes}><discard-changes/></rpc>')
        assert texts(reply, "//nc:error-tag") == ["malformed-message"]
        assert "twice" in texts(reply, "//nc:error-message")[0]
        inside = "<get-config><source a='1' a=\"2\"><running/></source></get-config>"
        assert texts(wire.call(inside), "//nc:error-tag") == ["malformed-message"]
        assert texts(wire.call("<discard-changes/>"), "//nc:ok") == ["ok"]


def test_attributes_of_the_rpc_come_back(server: Server) -> None:
    """RFC 6241 section 4.1: all of them, with what is not ours."""
    attributes = 'message-id="1&lt;&quot;" xmlns:x="urn:x" x:a="1" x:b=\'"\' plain="&amp;"'
    with Wire(server.socket) as wire:
        reply = wire.ask(f'<rpc xmlns="{BASE}" {attributes}><discard-changes/></rpc>')
        expected = {"message-id": '1<"', "{urn:x}a": "1", "{urn:x}b": '"', "plain": "&"}
        assert dict(reply.attrib) == expected


def test_many_attributes(server: Server) -> None:
    many = "".join(f' a{number}="1"' for number in range(101))
    with Wire(server.socket) as wire:
        reply = wire.ask(f'<rpc xmlns="{BASE}" message-id="1"{many}><discard-changes/></rpc>')
        assert texts(reply, "//nc:error-tag") == ["too-big"]


def test_many_chunks(server: Server) -> None:
    message = f'<rpc xmlns="{BASE}" message-id="1"><discard-changes/></rpc>'.encode()
    with Wire(server.socket) as wire:
        for byte in message:
            wire.send(b"\n#1\n%c" % byte)
        wire.send(b"\n##\n")
        assert texts(wire.reply(), "//nc:ok") == ["ok"]


def test_requests_may_be_sent_ahead(server: Server) -> None:
    """Answers come in their order, RFC 6241 section 4.5."""
    with Wire(server.socket) as wire:
        for number in range(50):
            rpc = f'<rpc xmlns="{BASE}" message-id="{number}"><discard-changes/></rpc>'
            wire.send(framed(rpc.encode()))
        assert [wire.reply().get("message-id") for _ in range(50)] == [str(n) for n in range(50)]


VALID = [
    with_namespaces(xml)
    for xml in (
        f"<nc:edit-config><nc:target><nc:candidate/></nc:target><nc:config>{ROUTER}</nc:config>"
        "</nc:edit-config>",
        f"<nc:get-config><nc:source><nc:running/></nc:source><nc:filter type='xpath'"
        f" select=\"/s:srv6/s:local-sids/s:sid[s:prefix='{SID}']\"/></nc:get-config>",
        "<nc:commit><nc:confirmed/><nc:confirm-timeout>5</nc:confirm-timeout></nc:commit>",
        "<nmda:get-data><nmda:datastore>ds:operational</nmda:datastore></nmda:get-data>",
        "<sn:establish-subscription><yp:datastore>ds:running</yp:datastore><yp:on-change/>"
        "</sn:establish-subscription>",
        "<m:get-schema><m:identifier>srv6mgr-srv6</m:identifier></m:get-schema>",
        "<nc:lock><nc:target><nc:candidate/></nc:target></nc:lock>",
        "<n:create-subscription><n:stream>NETCONF</n:stream></n:create-subscription>",
        "<o:plan><o:configuration>{}</o:configuration></o:plan>",
    )
]
PIECES = [b"<", b">", b"/", b"'", b'"', b"&", b"]]>", b"\x00", b"\xff", b"nc:operation", b"]", b"[",
          b"999999999999999999999", b"-1", b"%s%n", b"<![CDATA[", b"&lt;", b"\n"]  # fmt: skip


def spoilt(random_: random.Random) -> bytes:
    """An RPC with some bytes changed, cut, doubled or put in."""
    text = bytearray(random_.choice(VALID).encode())
    for _ in range(random_.randint(1, 6)):
        at = random_.randrange(len(text))
        match random_.randrange(5):
            case 0:
                text[at] = random_.randrange(256)
            case 1:
                del text[at : at + random_.randint(1, 20)]
            case 2:
                text[at:at] = random_.choice(PIECES)
            case 3:
                text[at:at] = text[at : at + random_.randint(1, 60)]
            case _:
                other = random_.choice(VALID).encode()
                text[at:at] = other[random_.randrange(len(other)) :][:50]
        if not text:
            break
    return bytes(text)


def test_fuzz(server: Server) -> None:
    """Under the sanitizers for addresses and undefined behaviour: each is answered, or ends its
    session."""
    seed = random.randrange(1 << 32)
    random_ = random.Random(seed)
    wire = Wire(server.socket)
    for _ in range(MESSAGES):
        body = spoilt(random_)
        message = f'<rpc xmlns="{BASE}" message-id="1">'.encode() + body + b"</rpc>"
        try:
            wire.send(framed(message))
            wire.message()
        except (EOFError, OSError):
            assert server.process.poll() is None, f"seed {seed}: {body!r}"
            wire.socket.close()
            wire = Wire(server.socket)
    wire.socket.close()
    alive(server)
