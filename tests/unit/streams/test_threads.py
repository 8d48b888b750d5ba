"""A client's tasks over its threads."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.streams.threads import thread_of


def _threads(owner, client_of, before):
    return thread_of(np.array(owner), np.array(client_of), np.array(before)).tolist()


@pytest.mark.parametrize(
    ("owner", "client_of", "before", "after"),
    [
        ([0, 0, 0], [0, 0], [1, 1, 0], [1, 1, 0]),
        ([0] * 5, [0, 0], [0] * 5, [0, 0, 0, 1, 1]),
        ([0] * 4, [0, 0, 0], [NONE, 1, NONE, NONE], [0, 1, 2, 0]),
        ([0] * 2, [0, 0], [NONE, NONE], [0, 1]),
        ([1, 1], [1, 1, 0], [0, 2], [0, 1]),
        ([NONE, 0], [0], [0, NONE], [NONE, 0]),
        ([0] * 4, [0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]),
    ],
    ids=[
        "who has one keeps it, whoever has the one more",
        "the last of too many go",
        "new tasks go where there are fewest",
        "the first of equal threads, in order of the tasks",
        "a task of another client is a new one",
        "what runs nowhere has no thread, whatever ran it before",
        "only as many keep one more as there is one more for",
    ],
)
def test_threads_of_tasks(owner, client_of, before, after):
    """Small cases by hand."""
    assert _threads(owner, client_of, before) == after


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
