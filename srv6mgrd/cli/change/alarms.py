"""``ack``: an operator's word on an alarm."""

from __future__ import annotations

import click

from srv6mgrd.cli.alarm_id import chosen, data_path
from srv6mgrd.cli.completion import alarms as complete_alarms
from srv6mgrd.cli.session import Session, json_option, pass_session, user

_DONE = {"ack": "is acknowledged", "closed": "is closed", "none": "is not taken care of"}


@click.command()
@click.argument("alarm", shell_complete=complete_alarms)
@click.option("--text", default="", help="A note for others.")
@click.option("--close", "state", flag_value="closed", help="Mark it as resolved.")
@click.option("--undo", "state", flag_value="none", help="Remove the acknowledgement.")
@json_option
@pass_session
def ack(session: Session, alarm: str, text: str, state: str | None) -> None:
    """Acknowledge ALARM.

    ALARM is a number from `show alarms`, or a type that only one alarm has. The alarm stays
    active until its cause is gone.
    """
    session.managed()
    state = state or "ack"
    meant = chosen(alarm, session.state.alarms())
    with session.client() as client:
        client.set_operator_state(data_path(meant), state, text, user())
    if session.out.as_json:
        session.out.json({"alarm": alarm, "state": state})
        return
    type_, resource = meant["alarm-type-id"].rpartition(":")[2], meant["resource"]
    session.out.line(f"alarm {type_} on {resource} {_DONE[state]}")
