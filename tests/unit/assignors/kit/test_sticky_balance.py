"""Balance by witness and passes over whole runs, against Kafka's way of looking at everything before each partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.kafka.sticky.general import balance_score
from evenkeel.engine.assignors.kafka.sticky.reassignment import Balance, Reassignment
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.sticky_groups import told_in_user_data

STICKY = ASSIGNORS["sticky"]


@st.composite
def uneven_groups(draw):
    """Unequal subscriptions and a lopsided past: several generations, partitions that are gone, topics left."""
    topics = {t: draw(st.integers(1, 6)) for t in "tuvw"[: draw(st.integers(1, 4))]}
    names = "abcdef"[: draw(st.integers(2, 6))]
    some = st.lists(st.sampled_from(list(topics)), min_size=1, max_size=3)
    members = {m: draw(some) for m in names}
    told = {m: [] for m in names}
    for topic, count in topics.items():
        for number in range(count + draw(st.sampled_from([0, 0, 0, 0, 0, 1]))):
            told[draw(st.sampled_from([names[0], names[-1], *names]))].append(f"{topic}-{number}")
    owned = {m: (" ".join(told[m]), draw(st.sampled_from([2, 2, 1]))) for m in names}
    return told_in_user_data(members, topics, owned)


def _balanced(balance):
    """Kafka's question, literally: all members, all partitions each could have."""
    current, participants, owned = balance._current, balance._participants, balance._owned
    size = current.size.tolist()
    part = [m for m in owned.hash_order.tolist() if not participants.fixed[m]]
    if max(size[m] for m in part) - min(size[m] for m in part) <= 1:
        return True
    lists = list(zip(*(a.tolist() for a in current.lists()), strict=True))
    owner = {p: m for m in part for n, p in lists if n == m}
    return not any(
        size[owner[p]] > size[m] + 1 and (m, p) not in lists
        for topic in range(len(participants.has_fixed_subscriber))
        for m in participants.among(topic).tolist()
        for p in participants.partitions[
            participants.place[owned.topic[participants.partitions]] == topic
        ].tolist()
        if not participants.fixed[m] and size[m] != balance._max_assignment_size[m]
    )


@given(uneven_groups())
def test_balance_is_kafkas(group):
    """Whenever it is asked, a witness or a search says what looking at everything says."""
    asked = Balance.is_balanced

    def is_balanced(self, member, partition):
        answer = asked(self, member, partition)
        assert answer == _balanced(self)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Balance, "is_balanced", is_balanced)
        try:
            STICKY.assign(group)
        except Infeasible:
            reject()


@given(uneven_groups())
def test_passing_over_runs_misses_no_partition(group):
    """Looking at every partition, one by one, gives the same lists."""
    outcome = _outcome(group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reassignment, "_next", lambda self, partitions, topic, at: at)
        assert _outcome(group) == outcome


def _outcome(group):
    try:
        return group.lists(STICKY.assign(group))
    except Infeasible as reason:
        return str(reason)


@given(st.lists(st.integers(0, 40), max_size=8))
def test_imbalance_adds_up_all_pairs(sizes):
    """Each pair of members counts once."""
    pairs = ((a, b) for i, a in enumerate(sizes) for b in sizes[:i])

    assert balance_score(np.array(sizes, np.int64)) == sum(abs(a - b) for a, b in pairs)
