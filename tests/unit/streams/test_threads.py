"""A client's tasks over its threads."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.streams.threads import thread_of


def _threads(owner, client_of, before):
    return thread_of(np.array(owner), np.array(client_of), np.array(before)).tolist()


def test_who_has_one_keeps_it():
    """Nothing to do: nothing changes, whoever has the one more."""
    assert _threads([0, 0, 0], [0, 0], [1, 1, 0]) == [1, 1, 0]


def test_the_last_of_too_many_go():
    """Five on one thread: it keeps three, the other takes the last two."""
    assert _threads([0] * 5, [0, 0], [0] * 5) == [0, 0, 0, 1, 1]


def test_new_tasks_go_where_there_are_fewest():
    """The first of equal threads, in order of the tasks."""
    assert _threads([0] * 4, [0, 0, 0], [NONE, 1, NONE, NONE]) == [0, 1, 2, 0]
    assert _threads([0] * 2, [0, 0], [NONE, NONE]) == [0, 1]


def test_a_task_of_another_client_is_a_new_one():
    """Members 0 and 1 are threads of client 1, member 2 of client 0: the task comes from there."""
    assert _threads([1, 1], [1, 1, 0], [0, 2]) == [0, 1]


def test_what_runs_nowhere_has_no_thread():
    """Whatever ran it before."""
    assert _threads([NONE, 0], [0], [0, NONE]) == [NONE, 0]


def test_only_as_many_as_there_is_one_more_for_keep_it():
    """Four tasks, three threads: two threads of two cannot both stay."""
    assert _threads([0] * 4, [0, 0, 0], [0, 0, 1, 1]) == [0, 0, 1, 2]


@st.composite
def clients_and_tasks(draw):
    """(owner, client of each member, member before): every client has a thread, members in any order."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    client_of = draw(st.permutations([c for c, size in enumerate(sizes) for _ in range(size)]))
    nobody = st.just(NONE)
    pairs = draw(
        st.lists(
            st.tuples(
                nobody | st.integers(0, len(sizes) - 1), nobody | st.integers(0, len(client_of) - 1)
            ),
            max_size=25,
        )
    )
    return [owner for owner, _ in pairs], client_of, [before for _, before in pairs]


@given(clients_and_tasks())
def test_threads_are_even_and_as_few_tasks_as_possible_change_theirs(drawn):
    """Every task on a thread of its client, counts one apart at most, and no even dealing keeps more."""
    owner, client_of, before = drawn
    dealt = _threads(owner, client_of, before)

    assert [NONE if m == NONE else client_of[m] for m in dealt] == owner
    for client in set(client_of):
        members = [m for m, c in enumerate(client_of) if c == client]
        tasks = [t for t, c in enumerate(owner) if c == client]
        has = Counter(dealt[t] for t in tasks)
        assert max(has[m] for m in members) - min(has[m] for m in members) <= 1

        had = [sum(before[t] == m for t in tasks) for m in members]
        least, more = divmod(len(tasks), len(members))
        best = sum(min(n, least) for n in had) + min(more, sum(n > least for n in had))
        assert sum(dealt[t] == before[t] for t in tasks) == best


@given(clients_and_tasks())
def test_dealing_again_changes_nothing(drawn):
    """What was dealt is kept."""
    owner, client_of, before = drawn
    dealt = _threads(owner, client_of, before)

    assert _threads(owner, client_of, dealt) == dealt
