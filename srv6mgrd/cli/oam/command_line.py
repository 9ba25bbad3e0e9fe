"""What ping and trace have in common: arguments, sockets, and the form of the probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from functools import wraps
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import click

from srv6mgrd.cli.completion import sids
from srv6mgrd.cli.oam.exchange import Exchange
from srv6mgrd.cli.oam.rounds import Leg
from srv6mgrd.cli.oam.sockets import RawSockets
from srv6mgrd.cli.oam.target import Options, Resolver, Target
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.netlink.errors import KernelError

# An IPv6 payload's most, less room for headers.
_MOST_SIZE = 65_000


class _Address(click.ParamType[IPv4Address | IPv6Address]):
    name = "address"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Address | IPv6Address:
        try:
            return ip_address(value)
        except ValueError:
            self.fail(f"{value} is no address", param, ctx)


class _Segments(click.ParamType[tuple[IPv6Address, ...]]):
    name = "segments"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[IPv6Address, ...]:
        try:
            return tuple(IPv6Address(one) for one in value.split(",") if value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_OPTIONS = (
    click.argument("target", metavar="SID|ADDRESS|PREFIX", shell_complete=sids),
    click.option("--vrf", default="", metavar="VRF", help="VRF of the target."),
    click.option(
        "--segments",
        type=_Segments(),
        default="",
        metavar="SID,SID...",
        help="SIDs on the way to the target, in order.",
    ),
    click.option("--source", type=_Address(), metavar="ADDRESS", help="Source address."),
    click.option(
        "--size",
        type=click.IntRange(0, _MOST_SIZE),
        default=56,
        metavar="BYTES",
        show_default=True,
        help="Size of the data in each probe.",
    ),
    click.option(
        "--encap",
        "encapsulated",
        is_flag=True,
        help="Send IPv6 in IPv6 through the SID and back, as service proxies need it.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0.01, 60),
        default=1.0,
        metavar="SECONDS",
        show_default=True,
        help="Time to wait for each answer.",
    ),
)


def probing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of ping and trace. Those of the target are passed as Options."""

    @wraps(command)
    def called(*args: Any, **given: Any) -> Any:
        options = Options(*(given.pop(field.name) for field in fields(Options)))
        return command(*args, options=options, **given)

    made: Callable[..., Any] = called
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


@contextmanager
def probing(text: str, options: Options, timeout: float) -> Iterator[tuple[Target, Exchange]]:
    """The target with the form of probes that it answers, if it answers. Raises Problem."""
    with exchanging() as exchange, resolving() as resolver:
        target = resolver.target(text, options)
        if not target.vrf:
            target = _answering(resolver, target, exchange, options, timeout)
    with exchanging(*filter(None, [target.vrf])) as exchange:
        yield target, exchange


@contextmanager
def resolving() -> Iterator[Resolver]:
    """The routes and links of the kernel. Raises Problem."""
    try:
        with closing(Resolver()) as resolver:
            yield resolver
    except KernelError as error:
        raise Problem.of("netlink", str(error), "see the log of the kernel", Exit.USAGE) from None


def _answering(
    resolver: Resolver, target: Target, exchange: Exchange, options: Options, timeout: float
) -> Target:
    """One round finds the form that comes through. A SID that takes packets out for a VRF needs
    a packet of that VRF."""
    leg = Leg(target.legs[0])
    if leg.probe(exchange, timeout).arrived:
        return Target(((leg.form,),), target.sid)
    assert target.sid is not None
    return resolver.behind(target.sid, options) or target


@contextmanager
def exchanging(*vrfs: str) -> Iterator[Exchange]:
    """Sockets of the default VRF and of these. Raises Problem."""
    try:
        wire = RawSockets(*vrfs)
    except OSError as error:
        remedy = "run it as root" if isinstance(error, PermissionError) else "see srv6ctl doctor"
        cause = f"raw sockets can't be opened: {error.strerror}"
        raise Problem.of("network", cause, remedy, Exit.USAGE) from None
    try:
        yield Exchange(wire)
    finally:
        wire.close()
