"""``ack``: an operator's word on an alarm."""

from __future__ import annotations

import click

from srv6mgrd.cli.alarm_id import chosen, data_path
from srv6mgrd.cli.completion import alarms as complete_alarms
from srv6mgrd.cli.session import Session, json_option, pass_session, user

_DONE = {"ack": "is acknowledged", "closed": "is closed", "none": "is not taken care of"}


@click.command()
@click.argument("alarm", shell_complete=complete_alarms)
@click.option("--text", default="", help="A word for others.")
@click.option("--close", "state", flag_value="closed", help="It is resolved, as far as you know.")
@click.option("--undo", "state", flag_value="none", help="Nobody takes care of it.")
@json_option
@pass_session
def ack(session: Session, alarm: str, text: str, state: str | None) -> None:
    """Acknowledge ALARM: say that somebody takes care of it.

    ALARM is named as `show alarms` does, or by its type where only one has it. It stays active
    until its cause is gone.
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
