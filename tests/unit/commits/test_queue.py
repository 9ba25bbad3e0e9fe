"""The order in which requests are carried out."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.commits.queue import FairQueue


@dataclass(frozen=True)
class Job:
    client: str
    number: int
    deadline: float = 10.0


def taken(queue: FairQueue[Job]) -> list[Job]:
    out = []
    while (job := queue.take()) is not None:
        out.append(job)
    return out


def test_clients_take_turns() -> None:
    queue: FairQueue[Job] = FairQueue()
    for n in range(3):
        queue.put(Job("busy", n))
    queue.put(Job("other", 0))
    order = [(job.client, job.number) for job in taken(queue)]
    assert order == [("busy", 0), ("other", 0), ("busy", 1), ("busy", 2)]


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_each_client_keeps_its_order_and_waits_one_round_at_most(clients: list[str]) -> None:
    queue: FairQueue[Job] = FairQueue()
    for n, client in enumerate(clients):
        queue.put(Job(client, n))
    assert len(queue) == len(clients)
    order = taken(queue)
    for client in set(clients):
        numbers = [job.number for job in order if job.client == client]
        assert numbers == sorted(numbers)
        places = [n for n, job in enumerate(order) if job.client == client]
        assert places[0] < len(set(clients))


def test_what_is_late_or_withdrawn_leaves_the_queue() -> None:
    queue: FairQueue[Job] = FairQueue()
    late, other = Job("a", 0, 1.0), Job("a", 1)
    queue.put(late)
    queue.put(other)
    assert queue.expired(1.0) == [late]
    assert queue.remove(other)
    assert not queue.remove(other)
    assert queue.take() is None
    assert len(queue) == 0
