"""Rates and time lag from a series of snapshots, five minutes apart."""

from __future__ import annotations

import math

import pytest

from evenkeel.engine.metrics.history import rate, time_lag, time_to_loss
from evenkeel.engine.metrics.past import Past
from evenkeel.engine.model.batch import batch_of
from evenkeel.engine.model.states import TimeLagBasis
from tests.helpers.snapshots import EVERY, change, group, groups, make_snapshot, topic

STEP = EVERY.total_seconds()


def _tables(*samples, topic_id=None):
    """Group tables, oldest first, from dicts of end, committed and begin."""
    tables = []
    for number, sample in enumerate(samples):
        ids = {"topic_id": sample["id"]} if "id" in sample else {}
        ids |= {name: sample[name] for name in ("cleanup_policy", "retention_ms") if name in sample}
        snapshot = make_snapshot(
            number=number,
            topics=[topic("t", 1, begin=sample.get("begin", 0), end=sample.get("end"), **ids)],
            groups=[
                group("g", members=1, topics=["t"], committed={"t": [sample.get("committed")]})
            ],
        )
        tables.append(batch_of(groups(snapshot)))
    return tables[-1].partitions, Past(tables[-1], tables[-2::-1])


def _rate(what, *samples):
    table, past = _tables(*samples)
    read_at = "committed_at_ms" if what == "committed" else "end_at_ms"
    value = rate(table, past, what, read_at).per_second[0]
    return None if math.isnan(value) else value


def test_one_snapshot_knows_no_rate():
    """A rate needs two samples."""
    assert _rate("end", {"end": 100}) is None


def test_rate_spans_the_whole_history():
    """Growth from the oldest sample on, over the time between."""
    assert _rate("end", {"end": 0}, {"end": 500}, {"end": 600}) == pytest.approx(300 / STEP)


def test_a_quiet_partition_has_rate_zero_not_unknown():
    """No growth over known time is 0 offsets/s."""
    assert _rate("end", {"end": 7}, {"end": 7}) == 0


def test_consumption_starts_afresh_after_a_rewind():
    """Samples before the commit fell do not count."""
    samples = [{"end": 900, "committed": c} for c in (800, 100, 400)]

    assert _rate("committed", *samples) == pytest.approx(300 / STEP)


def test_a_missing_sample_is_passed_over():
    """An unknown end in the middle neither breaks nor bends the rate."""
    assert _rate("end", {"end": 0}, {"end": None}, {"end": 600}) == pytest.approx(300 / STEP)


def test_a_recreated_topic_starts_afresh():
    """Another topic id under the same name has no history."""
    assert _rate("end", {"end": 0, "id": "old"}, {"end": 50, "id": "new"}) is None


def _age(*samples):
    table, past = _tables(*samples)
    found = time_lag(table, past, rate(table, past, "end", "end_at_ms"))
    return found.seconds[0], found.basis[0]


def test_a_group_at_the_end_is_zero_seconds_behind():
    """Nothing unread has no age."""
    assert _age({"end": 100, "committed": 100}) == (0, TimeLagBasis.CAUGHT_UP)


def test_time_lag_is_interpolated_between_samples():
    """A commit half way between two known ends was the end half way between their times."""
    seconds, basis = _age({"end": 0}, {"end": 100}, {"end": 200, "committed": 150})

    assert (pytest.approx(STEP / 2), TimeLagBasis.INTERPOLATED) == (seconds, basis)


def test_a_commit_just_before_the_history_is_extrapolated():
    """At 100 offsets a step, a commit 50 below the oldest end is half a step older."""
    seconds, basis = _age({"end": 100}, {"end": 200, "committed": 50})

    assert (pytest.approx(1.5 * STEP), TimeLagBasis.EXTRAPOLATED) == (seconds, basis)


def test_extrapolation_is_capped_and_says_so():
    """Far before the history, the age is at least two spans of it."""
    seconds, basis = _age({"end": 10_000}, {"end": 10_100, "committed": 1})

    assert (pytest.approx(2 * STEP), TimeLagBasis.AT_LEAST) == (seconds, basis)


def test_time_lag_is_unknown_without_history_or_traffic():
    """One snapshot with lag, or a lag without any production, has no known age."""
    single, _ = _age({"end": 100, "committed": 50})
    still, basis = _age({"end": 100}, {"end": 100, "committed": 50})

    assert math.isnan(single)
    assert math.isnan(still)
    assert basis is TimeLagBasis.UNKNOWN


def _loss(*samples):
    table, past = _tables(*samples)
    consumption = rate(table, past, "committed", "committed_at_ms")
    production = rate(table, past, "end", "end_at_ms")
    age = time_lag(table, past, production)
    begins = rate(table, past, "begin", "begin_at_ms")
    return time_to_loss(table, begins, consumption, production, age)[0]


def test_time_to_loss_is_the_margin_over_the_closing_speed():
    """A log start gaining 100 offsets a step on a commit 50 ahead reaches it in half a step."""
    old = {"begin": 0, "end": 900, "committed": 150}
    new = {"begin": 100, "end": 900, "committed": 150}

    assert _loss(old, new) == pytest.approx(STEP / 2)


def test_a_log_start_that_does_not_gain_never_arrives():
    """Standing still, or slower than the group, is never."""
    still = {"begin": 0, "end": 900, "committed": 150}

    assert _loss(still, still) == math.inf


@pytest.mark.parametrize(
    ("situation", "gained", "seconds"),
    [
        ("the commit is faster", 1005, math.inf),
        ("as fast", 1000, math.inf),
        ("half a percent slower: read at other moments", 995, math.inf),
        ("a fiftieth slower", 980, 0),
    ],
)
def test_a_commit_that_keeps_pace_with_the_log_start_is_never_reached(situation, gained, seconds):
    """Two readings a moment apart do not tell which of two equal speeds is the larger, however near they are."""
    old = {"begin": 0, "end": 5000, "committed": 1000 - gained}
    new = {"begin": 1000, "end": 5000, "committed": 1000}

    assert _loss(old, new) == seconds, situation


def _kept(committed, policy="delete", retention_seconds=1000, end=300):
    """A log that gained 300 offsets in 300 s, of a topic whose records are kept for so long."""
    told = {
        "cleanup_policy": policy,
        "retention_ms": retention_seconds and 1000 * retention_seconds,
    }
    first, last = committed
    return _loss({"end": 0, "committed": first} | told, {"end": end, "committed": last} | told)


@pytest.mark.parametrize(
    ("situation", "asked", "seconds"),
    [
        ("the commit stands: its record is 200 s old", {"committed": (100, 100)}, 800),
        ("half of what comes is read, at 150 s of age", {"committed": (0, 150)}, 850 / 0.5),
        ("too old already", {"committed": (100, 100), "retention_seconds": 60}, 0),
        ("it keeps pace", {"committed": (-100, 200)}, math.inf),
        ("it is at the end", {"committed": (0, 300)}, math.inf),
        ("nothing is removed by age", {"committed": (100, 100), "policy": "compact"}, math.inf),
        ("both policies", {"committed": (100, 100), "policy": "compact,delete"}, 800),
        ("kept for ever", {"committed": (100, 100), "retention_seconds": -1}, math.inf),
        ("not known", {"committed": (100, 100), "retention_seconds": None}, math.inf),
    ],
)
def test_retention_takes_what_grows_too_old(situation, asked, seconds):
    """The log start stands still in all of them, so age alone decides; unknown leaves it to the log start."""
    assert _kept(**asked) == pytest.approx(seconds), situation


def test_the_earlier_of_log_start_and_age_counts():
    """A log start that is upon the commit does not wait for retention."""
    old = {
        "begin": 0,
        "end": 0,
        "committed": 100,
        "cleanup_policy": "delete",
        "retention_ms": 10**9,
    }

    assert _loss(old, old | {"begin": 90, "end": 300}) == pytest.approx(STEP / 9)


def test_what_is_lost_already_is_not_never():
    """A commit below the log start has no time left, however fast the group reads."""
    old = {"begin": 200, "end": 900, "committed": 100}
    new = {"begin": 200, "end": 900, "committed": 150}

    assert _loss(old, new) == 0


def test_what_is_read_to_its_end_cannot_be_lost():
    """Retention that empties a quiet partition takes nothing the group has not read."""
    old = {"begin": 0, "end": 900, "committed": 900}
    new = {"begin": 500, "end": 900, "committed": 900}

    assert _loss(old, new) == math.inf


def test_history_finds_a_partition_whatever_else_the_group_held_before():
    """Rows are matched by topic and number, not by position."""
    topics = [topic("a", 2, end=10), topic("b", 1, end=20)]
    before = make_snapshot(
        topics=topics, groups=[group("g", members=1, topics=["a", "b"], committed={"a": 5, "b": 5})]
    )
    after = make_snapshot(
        number=1, topics=topics, groups=[group("g", members=1, committed={"b": 9})]
    )
    gone = change(after, "commits", lambda rows: [r for r in rows if r["topic"] == "b"])
    past = Past(batch_of(groups(gone)), [batch_of(groups(before))])

    assert past.column("committed", 0).tolist() == [5]


def test_the_samples_of_groups_may_come_from_different_snapshots():
    """Where one group could not be read in between, its sample is an older one than the other's."""

    def batch(number, end, error=None):
        own = [group(name, members=1, committed={"t": [end, end]}) for name in ("a", "b")]
        snapshot = make_snapshot(number=number, topics=[topic("t", 2, end=end)], groups=own)
        torn = change(
            snapshot,
            "groups",
            lambda rows: [
                row | {"error": error if row["group_id"] == "a" else None} for row in rows
            ],
        )
        return batch_of(groups(torn))

    now, newer, oldest = batch(2, 30), batch(1, 20, error="it could not be read"), batch(0, 10)
    past = Past(now, [newer, oldest])

    assert past.column("committed", 0).tolist() == [10, 10, 20, 20]
    assert past.column("committed", 1).tolist() == [None, None, 10, 10]
    assert past.column("end", 0).tolist() == [10, 10, 20, 20]
