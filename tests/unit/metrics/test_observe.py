"""The findings: what is odd about a group, in a sentence with its numbers."""

from __future__ import annotations

import math

import pytest

from evenkeel.engine.model.states import Status, TimeLagBasis
from tests.helpers.facts import said
from tests.helpers.measuring import observed
from tests.helpers.snapshots import EVERY, group, groups, make_snapshot, member, topic

TOPICS = [topic("t", 2, begin=10, end=100), topic("u", 1, end=50)]


def _group(there=TOPICS, /, **columns):
    return groups(make_snapshot(topics=there, groups=[group("g", **columns)]))[0]


def _findings(found, **rule):
    return said(observed(found, [], **rule).findings[0])


@pytest.mark.parametrize(
    ("situation", "columns", "words"),
    [
        ("idle", {"members": 3, "topics": ["t"]}, "1 of 3 members own none of the 2 partitions"),
        (
            "rebalancing",
            {"members": 1, "topics": ["t"], "state": "PreparingRebalance"},
            "rebalancing (PreparingRebalance)",
        ),
        (
            "lost",
            {"members": 1, "committed": {"t": [4, 50]}},
            "retention deleted 6 unread records on 1 partition",
        ),
        (
            "beyond",
            {"members": 1, "committed": {"t": [101, 50]}},
            "commit beyond end on 1 partition",
        ),
        (
            "deleted",
            {"committed": {"gone": [1, 2]}},
            "commits for 2 partitions that no longer exist: gone",
        ),
        (
            "recreated with fewer",
            {"members": 1, "committed": {"t": [60, 70, 80]}},
            "commits for 1 partition that no longer exist: t",
        ),
        (
            "unsubscribed",
            {"members": 1, "topics": ["t"], "committed": {"u": [1]}},
            "commits on 1 partition without subscriber",
        ),
    ],
)
def test_what_is_odd_is_said_once_with_its_numbers(situation, columns, words):
    """One sentence for the one thing that is odd."""
    [finding] = _findings(_group(**columns), auto_offset_reset="latest")

    assert words in finding, situation


@pytest.mark.parametrize(
    ("policy", "told"),
    [("compact", True), ("compact,delete", True), ("delete", False), (None, False)],
)
def test_lag_on_compacted_topics_is_called_an_upper_bound(policy, told):
    """Only where it is known, and only where there is lag."""
    topics = [topic("t", 2, end=100, cleanup_policy=policy)]
    found = _group(topics, members=1, committed={"t": [60, 100]})
    findings = _findings(found, auto_offset_reset="latest")

    starts = [one.startswith("lag on 1 partition of compacted topics (t)") for one in findings]
    assert starts == ([True] if told else [])


def test_a_group_that_never_committed_is_told_what_to_configure():
    """Its lag is unknown only because nobody said where it would begin; once that is said, it is not odd."""
    found = _group(members=1, topics=["t"], committed={"t": [60]})

    assert _findings(found) == (
        "no commits on 1 partition, and the start offset is unknown: set auto_offset_reset in a"
        " rule of evenkeel.toml",
    )
    assert _findings(found, auto_offset_reset="earliest") == ()


def test_an_ordinary_group_has_no_finding():
    """Silence is the normal case."""
    assert _findings(_group(members=2, committed={"t": [60, 70]})) == ()


def test_members_whose_share_is_not_told_are_not_called_idle():
    """What a Connect worker holds is not in terms of partitions; that it holds none nobody knows."""
    worker = member("w") | {"subscription": None}

    assert _findings(_group([], members=[worker], protocol_type="connect")) == ()


def test_a_pattern_that_is_not_resolved_hides_no_lag():
    """While no subscription is known by name, every partition the group has committed is in its totals."""
    waiting = member("m", [], subscription_regex="t.*", kind="consumer")
    found = _group(members=[waiting], group_type="consumer", committed={"t": [60, 70]})

    assert observed(found, []).counted.tolist() == [True, True]


REBALANCING = {"members": [member("m") | {"subscription": None}], "state": "PreparingRebalance"}


def _counted_after(*before, **columns):
    """The topics in the totals of a rebalancing group, after these samples (newest first)."""
    committed = {"t": [60, 70], "u": [1]}
    samples = [_group(committed=committed, **one) for one in (REBALANCING | columns, *before)]
    seen = observed(samples[0], samples[1:])
    names = samples[0].partitions.names
    return {name for name, counted in zip(names, seen.counted.tolist(), strict=True) if counted}


@pytest.mark.parametrize(
    ("situation", "before", "columns", "expected"),
    [
        ("nothing is known", [], {}, {"t", "u"}),
        ("subscribed before", [{"members": 1, "topics": ["t"]}], {}, {"t"}),
        ("for long", [REBALANCING, {"members": 1, "topics": ["t"]}], {}, {"t"}),
        ("empty before", [{}, {"members": 1, "topics": ["t"]}], {}, {"t", "u"}),
        ("of a topic that is gone", [{"members": 1, "topics": ["gone"]}], {}, {"t", "u"}),
        ("not rebalancing", [{"members": 1, "topics": ["t"]}], {"state": "Stable"}, {"t", "u"}),
    ],
)
def test_a_rebalance_brings_no_lag_of_topics_the_group_left(situation, before, columns, expected):
    """Members tell no subscription then; what they last told counts, if they told any."""
    assert _counted_after(*before, **columns) == expected, situation


def test_idle_members_are_told_of_partitions_they_could_own():
    """Commits of a topic nobody subscribes to are not among them."""
    members = [member("a", owned={"t": [0, 1]}), member("b", ["t"])]
    findings = _findings(_group(members=members, committed={"u": [50]}))

    assert findings[0] == "1 of 2 members own none of the 2 partitions"


NEARING = 100 / (900 / EVERY.total_seconds())
"""Seconds to loss of a commit 100 ahead of a log start that gained 900 on it."""


@pytest.mark.parametrize(
    ("situation", "name", "columns", "seconds"),
    [
        ("its own", "app-KSTREAM-MAP-repartition", {"assignor": "stream"}, math.inf),
        ("by the newer protocol", "app-x-repartition", {"group_type": "streams"}, math.inf),
        ("another application's", "other-x-repartition", {"assignor": "stream"}, NEARING),
        ("one it only reads", "app-orders", {"assignor": "stream"}, NEARING),
        ("no application", "app-x-repartition", {"assignor": "range"}, NEARING),
    ],
)
def test_what_an_application_purges_itself_is_not_taken_by_retention(
    situation, name, columns, seconds
):
    """Kafka Streams removes what it has read from its repartition topics: their log start follows the commit."""
    samples = []
    for number, begin in enumerate((0, 1000)):
        described = group("app", members=1, committed={name: [1000 + begin // 10]}, **columns)
        topics = [topic(name, 1, begin=begin, end=5000)]
        samples += groups(make_snapshot(number=number, topics=topics, groups=[described]))

    found = observed(samples[1], samples[:1]).time_to_loss.tolist()
    assert found == [pytest.approx(seconds)], situation


def test_what_an_application_lost_is_not_never():
    """Records removed before it read them are lost in its own topics too."""
    described = group("app", members=1, assignor="stream", committed={"app-x-repartition": [4]})
    topics = [topic("app-x-repartition", 1, begin=10, end=100)]
    found = groups(make_snapshot(topics=topics, groups=[described]))[0]

    assert observed(found, []).time_to_loss.tolist() == [0]


def test_nothing_is_made_of_a_log_start_beyond_the_end():
    """A topic recreated between two readings has no lag, loss, age, pace or danger for that moment."""
    samples = []
    for number, begin in enumerate((100, 0, 100)):
        described = group("g", members=1, committed={"t": [50]})
        topics = [topic("t", 1, begin=begin, end=4 if begin else 60)]
        samples += groups(make_snapshot(number=number, topics=topics, groups=[described]))
    torn = observed(samples[2], samples[1::-1])
    after = observed(samples[1], samples[:1])

    assert (torn.lag.for_people.tolist(), torn.lag.lost.tolist()) == ([None], [None])
    assert torn.time_lag.basis == [TimeLagBasis.UNKNOWN]
    for unknown in (torn.time_lag.seconds, torn.production.per_second, torn.time_to_loss):
        assert math.isnan(unknown[0])
    assert (torn.statuses, torn.findings[0]) == ([Status.UNKNOWN], ())
    assert after.lag.for_people.tolist() == [10]
    assert math.isnan(after.production.per_second[0])


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["PreparingRebalance"] * 4, Status.STOP),
        (["Stable", *["PreparingRebalance"] * 3], Status.UNKNOWN),
        (["PreparingRebalance"] * 3, Status.UNKNOWN),
    ],
)
def test_a_rebalance_without_end_does_not_look_harmless(states, expected):
    """A group whose lag grows while it does nothing but rebalance is not one of which nothing is known."""
    samples = []
    for number, state in enumerate(states):
        members = REBALANCING["members"] if state != "Stable" else [member("m", owned={"t": [0]})]
        described = group("g", members=members, state=state, committed={"t": [50]})
        topics = [topic("t", 1, end=100 + 1000 * number)]
        samples += groups(make_snapshot(number=number, topics=topics, groups=[described]))

    assert observed(samples[-1], samples[-2::-1]).statuses == [expected]
