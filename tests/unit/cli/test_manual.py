"""The manual page has all that srv6ctl has."""

from srv6mgrd.cli.manual import EXITS, page
from srv6mgrd.cli.problem import Exit


def test_every_command_option_and_status_is_reported():
    text = page()
    for words in (r".SS show sids", r".SS apply FILE", r"\-\-confirm\-within", ".SS extend TIME"):
        assert words in text
    assert set(EXITS) == set(Exit)


def test_no_line_is_a_macro_by_accident():
    known = (".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".nf", ".fi")
    for line in page().splitlines():
        assert not line.startswith(".") or line.startswith(known)
