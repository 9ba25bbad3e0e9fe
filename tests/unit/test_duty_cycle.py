"""How long work is put off."""

import pytest

from srv6mgrd.duty_cycle import Cost, DutyCycle


@pytest.mark.parametrize(
    ("cost", "quiet", "wait"),
    [
        (0.0, True, 1.0),
        (0.01, True, 1.0),
        # A tenth of a CPU where there is something to report, a two-hundredth where there is not.
        (0.05, False, 1.0),
        (0.2, False, 2.0),
        (0.02, True, 4.0),
        # Never for good.
        (5.0, True, 30.0),
        (50.0, False, 30.0),
    ],
)
def test_work_waits_for_its_part_of_a_cpu(cost, quiet, wait):
    duty_cycle = DutyCycle(1.0, quiet=0.005, free=0.01)

    assert duty_cycle.after(cost, quiet=quiet) == pytest.approx(wait)


def test_the_cost_is_that_of_the_last_piece_also_when_it_fails():
    def work():
        with cost:
            sum(range(200_000))
            raise ValueError("no")

    cost = Cost()
    with pytest.raises(ValueError, match="no"):
        work()
    first = cost.seconds
    with cost:
        pass

    assert first > cost.seconds >= 0
