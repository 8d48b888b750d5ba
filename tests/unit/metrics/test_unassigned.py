"""Partitions that members subscribe to and nobody owns."""

from __future__ import annotations

import pytest

from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.measuring import observed
from tests.helpers.series import members_of, observed_series, series, steadily
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

OWNED, NOT_OWNED = members_of([0, 1], [2]), members_of([0], [1])
ENDS = steadily([10, 10, 10], 5, [9000, 9000, 9000])
READ = [[*row[:2], ENDS[0][2]] for row in ENDS]
"""The commits of the first two partitions go on, that of the third stands still from the first snapshot on."""


def _said(taken, **rule):
    """The diagnosis of the newest snapshot, and how it reads."""
    [diagnosed] = observed_series(taken, **rule).diagnoses
    return diagnosed.diagnosis, "; ".join(map(words, diagnosed.facts))


@pytest.mark.parametrize(
    ("since", "lasts"), [(1, " for 15 min"), (3, " for 5 min"), (0, " for 20 min")]
)
def test_a_partition_nobody_owns_is_the_trouble_of_its_group(since, lasts):
    """It is named, with how many there are, and since when, as far as snapshots tell."""
    taken = series(OWNED, ENDS, READ, changed={since: NOT_OWNED})

    assert _said(taken) == (
        Diagnosis.UNASSIGNED_PARTITIONS,
        f"1 partition of 3 has no owner{lasts} (t-2)",
    )


def test_it_is_no_backlog_that_somebody_works_off():
    """The rest of the group is caught up, and nobody says until when this partition will be."""
    [judged] = [observed_series(series(OWNED, ENDS, READ, changed={2: NOT_OWNED}))]
    one = judged.evidence.of_group(0)

    assert one.unassigned.tolist() == [False, False, True]
    assert not one.behind.any()


@pytest.mark.parametrize(
    ("what", "taken"),
    [
        ("one snapshot", series(OWNED, ENDS, READ, changed={4: NOT_OWNED})),
        ("it rebalances", series(NOT_OWNED, ENDS, READ, state="PreparingRebalance")),
        ("its broker reconciles", series(NOT_OWNED, ENDS, READ, state="Reconciling")),
        ("it is unreadable", series(NOT_OWNED, ENDS, READ, error="not authorized")),
        ("share groups have no owners", series(NOT_OWNED, ENDS, READ, group_type="share")),
    ],
)
def test_what_soon_has_an_owner_or_needs_none_is_none(what, taken):
    """A snapshot between two steps of a rebalance shows partitions without an owner, too."""
    assert _said(taken)[0] is not Diagnosis.UNASSIGNED_PARTITIONS, what


def test_rebalances_in_between_say_nothing():
    """It had no owner before one, and has none after it."""
    taken = [
        series(NOT_OWNED, ENDS[:number], READ[:number], state=state)[-1]
        for number, state in enumerate(["Stable", "Stable", "PreparingRebalance", "Stable"], 1)
    ]

    assert _said(taken)[1] == "1 partition of 3 has no owner for 15 min (t-2)"


def test_a_partition_in_which_there_is_nothing_to_read_is_no_trouble():
    """Nobody misses records where none are."""
    quiet = [[*row[:2], 9000] for row in ENDS]

    assert _said(series(NOT_OWNED, quiet, quiet))[0] is Diagnosis.HEALTHY


def test_without_a_past_what_was_read_once_shows_it_at_once():
    """Somebody committed there, so somebody owned it; one that nobody read may be new."""
    ends = [[9000, 9000, 9000]]

    assert _said(series(NOT_OWNED, ends, [[9000, 9000, 100]])) == (
        Diagnosis.UNASSIGNED_PARTITIONS,
        "1 partition of 3 has no owner (t-2)",
    )
    assert _said(series(NOT_OWNED, ends, [[9000, 9000, None]]))[0] is Diagnosis.UNKNOWN


def _taken(number, topics, *, members=None, **columns):
    """A group of two members that read `old`, and what of `new` there is."""
    there = {name: [100] * count for name, count in topics.items() if name == "old"}
    return groups(
        make_snapshot(
            number=number,
            topics=[topic(name, count, end=100 + 10 * number) for name, count in topics.items()],
            groups=[group("g", members=members or _both(), committed=there, **columns)],
        )
    )[0]


def _both(topics=("old", "new"), **columns):
    return [
        member(f"c-{n}", list(topics), {"old": [n]}, client_id=f"c-{n}", **columns)
        for n in range(2)
    ]


def test_a_new_topic_has_ten_minutes():
    """Until then its leader need not know of it."""
    old, both = {"old": 2}, {"old": 2, "new": 3}
    life = [_taken(n, old if n < 2 else both) for n in range(6)]
    said = [observed(life[n], life[n - 1 :: -1]).diagnoses[0] for n in range(1, 6)]

    assert [one.diagnosis is Diagnosis.UNASSIGNED_PARTITIONS for one in said] == [
        False, False, False, True, True,
    ]  # fmt: skip
    assert "; ".join(map(words, said[-1].facts)) == (
        "3 partitions of 5 have no owner for 15 min (new-0, new-1, new-2); no partition of new has an owner"
    )


def test_who_asks_for_it_is_told_where_not_all_do():
    """Then the leader may be one of those that do not."""
    first, second = _both()
    life = [
        _taken(n, {"old": 2, "new": 1}, members=[first | {"subscription": ["old"]}, second])
        for n in range(3)
    ]
    told = "; ".join(map(words, observed(life[2], life[1::-1]).diagnoses[0].facts))

    assert told.endswith("no partition of new has an owner; 1 of 2 members subscribes to them")


@pytest.mark.parametrize("columns", [{"group_type": "consumer"}])
def test_a_pattern_may_match_fewer_topics_at_the_broker(columns):
    """It hides topics from members that may not describe them; one that was read is surely subscribed to."""
    members = _both(subscription_regex=".*")
    life = [_taken(n, {"old": 2, "new": 1}, members=members, **columns) for n in range(3)]
    lost = [one | {"assigned_topics": [], "assigned_partitions": []} for one in members[1:]]
    without = [
        _taken(n, {"old": 2, "new": 1}, members=[members[0], *lost], **columns) for n in range(3)
    ]

    found = [observed(each[2], each[1::-1]).diagnoses[0] for each in (life, without)]
    assert found[0].diagnosis is not Diagnosis.UNASSIGNED_PARTITIONS
    assert found[1].facts[0].subjects == ("old-1",)


def test_an_application_whose_topics_are_missing_says_its_state():
    """A broker gives the tasks of such a Kafka Streams application to nobody."""
    idle = [member(f"c-{n}", ["old"], {}) for n in range(2)]
    life = [
        _taken(n, {"old": 2}, members=idle, group_type="streams", state="NotReady", assignor=None)
        for n in range(3)
    ]
    told = words(observed(life[2], life[1::-1]).diagnoses[0].facts[0])

    assert (
        told == "2 partitions of 2 have no owner for 10 min (old-0, old-1) (the group is NotReady)"
    )
