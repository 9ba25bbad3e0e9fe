"""Whatever is reported: after a while without a report the active alarms are the conditions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.alarms.alarm_list import HOLD, TEXT_HOLD, AlarmList, Now
from srv6mgrd.alarms.kept import decoded, encoded
from srv6mgrd.model.condition import Condition, ConditionType, Severity

CONDITIONS = st.builds(
    Condition,
    st.sampled_from(list(ConditionType)[:3]),
    st.sampled_from(["/a", "/b", "/c"]),
    st.sampled_from(list(Severity)),
    st.sampled_from(["one", "two"]),
    st.just("mend it"),
)
REPORTS = st.tuples(st.sampled_from(["x", "y"]), st.lists(CONDITIONS, max_size=6))
STEPS = st.lists(
    st.one_of(REPORTS, st.floats(0, 20), st.just("restart"), st.integers(-5, 5)), max_size=30
)


@given(STEPS)
def test_active_alarms_are_the_conditions_that_exist(
    steps: list[tuple[str, list[Condition]] | float | str],
) -> None:
    steady, wall, alarms = 0.0, 1_000, AlarmList()
    reported: dict[str, list[Condition]] = {}
    for step in steps:
        match step:
            case (str(source), list(conditions)):
                alarms.report(source, conditions)
                reported[source] = conditions
            case float(seconds):
                steady += seconds
            case int(jump):
                wall += jump
            case "restart":
                alarms = AlarmList(decoded(encoded(alarms.alarms)), steady)
                for source, conditions in reported.items():
                    alarms.report(source, conditions)
        alarms.settle(Now(wall, steady))
        for alarm in alarms.alarms:
            times = [change.time for change in alarm.changes]
            assert times == sorted(set(times), reverse=True)
            assert alarm.severity == next(c.severity for c in alarm.changes if c.severity)
    steady += TEXT_HOLD + HOLD
    alarms.settle(Now(wall, steady))
    alarms.settle(Now(wall, steady + HOLD))
    worst: dict[tuple[str, str], Severity] = {}
    for conditions in reported.values():
        # Of one key the last one counts within a report.
        for condition in {c.key: c for c in conditions}.values():
            key = str(condition.type), condition.resource
            worst[key] = max(worst.get(key, condition.severity), condition.severity)
    active = {alarm.key: alarm.severity for alarm in alarms.alarms if not alarm.is_cleared}
    assert active == worst
    assert alarms.due(steady + HOLD) is None
