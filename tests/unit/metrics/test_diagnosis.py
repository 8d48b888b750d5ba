"""What is the matter with a group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.messages.wording import words
from evenkeel.engine.metrics.observe import Known, observe
from evenkeel.engine.model.batch import batch_of
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.series import members_of, observed_series, series, steadily
from tests.helpers.snapshots import group, groups, make_snapshot, topic

THREE = members_of([0], [1], [2])
TENS = steadily([10, 10, 10], 5, [9000, 9000, 9000])


def _diagnosed(members, ends, commits, **other):
    """The diagnosis of the newest snapshot, and how it reads."""
    rule = other.pop("rule", {})
    [diagnosed] = observed_series(series(members, ends, commits, **other), **rule).diagnoses
    return diagnosed.diagnosis, "; ".join(map(words, diagnosed.facts))


def _behind(*, by, does):
    """Commits that are so many offsets behind `TENS` at first and go on at these speeds."""
    return steadily(does, 5, [9000 - one for one in by])


PAIR = members_of([0, 1], [2])
SIXES = {"ends": steadily([6] * 4, 5, [9000] * 4), "commits": steadily([4] * 4, 5, [6000] * 4)}


@pytest.mark.parametrize(
    ("members", "asked", "diagnosis", "text"),
    [
        (THREE, {"commits": _behind(by=[90, 50, 0], does=[10, 10, 10])}, Diagnosis.HEALTHY, ""),
        (
            THREE,
            {"ends": TENS[:1], "commits": [[100, 9000, 9000]]},
            Diagnosis.UNKNOWN,
            "its time lag is known after the next snapshot (1 partition)",
        ),
        (
            [],
            {"commits": [TENS[0]] * 5, "state": "Empty", "rule": {"auto_offset_reset": "earliest"}},
            Diagnosis.NO_MEMBERS,
            "no member consumes its 3 partitions; 30 records/s incoming",
        ),
        (
            THREE,
            {"commits": TENS, "state": "PreparingRebalance"},
            Diagnosis.REBALANCING,
            "the group is rebalancing (PreparingRebalance)",
        ),
        (
            THREE,
            {
                "commits": _behind(by=[8000, 0, 0], does=[1, 10, 10]),
                "begins": [[0, 0, 0]] * 4 + [[5000, 0, 0]],
            },
            Diagnosis.DATA_LOSS,
            "retention deleted 2,800 unread records of 1 partition (t-0)",
        ),
        (
            PAIR,
            {"commits": _behind(by=[0, 0, 0], does=[0, 0, 10])},
            Diagnosis.MEMBER_NOT_COMMITTING,
            "c-0 has not committed for 20 min, 2 partitions; 20 records/s incoming there",
        ),
        (
            PAIR,
            {"commits": _behind(by=[0, 0, 0], does=[0, 10, 10])},
            Diagnosis.STUCK_PARTITION,
            "t-0 has not advanced for 20 min, although the owner consumes others",
        ),
        (
            THREE,
            {"commits": _behind(by=[3000, 0, 0], does=[6, 10, 10])},
            Diagnosis.SLOW_MEMBER,
            "c-0 processes 6 records/s, its peers 10 records/s; 10 records/s incoming",
        ),
        (
            THREE,
            {
                "ends": steadily([25, 10, 10], 5, [9000] * 3),
                "commits": _behind(by=[3000, 0, 0], does=[11, 10, 10]),
            },
            Diagnosis.HOT_PARTITION,
            "t-0 receives 25 records/s, the fastest member processes 11 records/s",
        ),
        (
            members_of([0, 1], [2, 3]),
            SIXES,
            Diagnosis.UNDER_PROVISIONED,
            "2 members, needs 3; 24 records/s incoming, capacity 16 records/s",
        ),
        (
            PAIR,
            {"commits": _behind(by=[3000, 3000, 0], does=[8, 8, 10])},
            Diagnosis.SKEWED_LOAD,
            "c-0 receives 20 records/s and can process 16 records/s",
        ),
        (
            THREE,
            {"commits": _behind(by=[6000, 0, 0], does=[12, 10, 10])},
            Diagnosis.CATCHING_UP,
            "5 min 50 s behind in 1 partition, caught up in about 29 min 10 s",
        ),
    ],
    ids=[
        "lag is not the matter where it is what arrived since the last commit",
        "how far behind in time only a second snapshot tells",
        "nobody is there: what arrives meanwhile",
        "in motion: its state",
        "retention takes what was not read: the amount and the partition",
        "a member none of whose partitions moves, by its client id",
        "a partition that stands still while its member reads others",
        "a member that does less than its peers",
        "no member is known to do as much as arrives in a partition",
        "more arrives than all can do: how many members would do",
        "one gets more than it can do though the total fits",
        "every member can do more than arrives: the end is in sight",
    ],
)
def test_what_is_the_matter_and_how_it_reads(members, asked, diagnosis, text):
    """Each situation an operator knows, with its numbers and names."""
    assert _diagnosed(members, **{"ends": TENS} | asked) == (diagnosis, text)


def test_a_commit_that_was_set_to_the_end():
    """A member that does 4 records/s did not read 15,400 offsets in five minutes."""
    slow = _behind(by=[7000, 7000, 7000], does=[4, 4, 4])
    diagnosis, text = _diagnosed(THREE, TENS, [*slow[:4], TENS[4]])

    assert diagnosis is Diagnosis.OFFSETS_SKIPPED
    assert text.startswith("its commits skipped 46,200 records of 3 partitions (t-0, t-1, t-2)")


def test_a_clock_that_leaps_ahead_makes_no_jump_of_catching_up():
    """What a partition caught up before, at full speed, is not held against members that look slow by that clock."""
    arrived = [90_000 + 15_000 * number for number in range(4)]
    commits = [
        *(
            [end] * 3 + [stuck]
            for end, stuck in zip(arrived, (40_000, 40_000, 75_000), strict=False)
        ),
        [arrived[-1] - 200] * 4,
    ]
    diagnosis, _ = _diagnosed(
        members_of([0, 1], [2, 3]), [[end] * 4 for end in arrived], commits, late=288
    )

    assert diagnosis is Diagnosis.CATCHING_UP


def test_a_member_that_is_back_late_in_an_interval_skips_nothing():
    """It moved little by then, so it looks slow; that it catches up within the next is no more than others can do."""
    arrived = [90_000 + 15_000 * number for number in range(5)]
    silent = (90_000, 90_000, 90_000, 92_000, arrived[-1])
    commits = [[end] * 2 + [one] * 2 for end, one in zip(arrived, silent, strict=True)]
    diagnosis, _ = _diagnosed(members_of([0, 1], [2, 3]), [[end] * 4 for end in arrived], commits)

    assert diagnosis is Diagnosis.HEALTHY


def test_more_members_are_asked_for_than_there_are():
    """Even where as many as there are would do, were all of them as fast as most."""
    ends = steadily([8, 8, 8], 5, [9000] * 3)
    commits = steadily([8.1, 8.1, 7], 5, [6000] * 3)
    diagnosis, text = _diagnosed(THREE, ends, commits)

    assert diagnosis is Diagnosis.UNDER_PROVISIONED
    assert text.startswith("3 members, needs 4")


def test_a_group_that_was_never_seen_to_commit_is_not_judged():
    """It may be one that commits once an hour: what to do is said."""
    diagnosis, text = _diagnosed(
        THREE,
        TENS,
        _behind(by=[900, 900, 900], does=[0, 0, 0]),
        rule={"commit_interval_seconds": None},
    )

    assert diagnosis is Diagnosis.UNKNOWN
    assert "set commit_interval_seconds" in text


@pytest.mark.parametrize(("objective", "expected"), [(60, "catching up"), (900, "healthy")])
def test_the_objective_of_a_rule_decides(objective, expected):
    """Who may be a quarter of an hour behind keeps up where others do not."""
    diagnosis, _ = _diagnosed(
        THREE,
        TENS,
        _behind(by=[6000, 0, 0], does=[12, 10, 10]),
        rule={"lag_slo_seconds": objective},
    )

    assert diagnosis.value == expected


def test_members_of_one_name_are_told_apart():
    """Where two have the same client id and host, they are numbered: nobody knows a member id by heart."""
    same = [{**one, "client_id": "x"} for one in THREE]
    _, text = _diagnosed(same, TENS, _behind(by=[3000, 0, 0], does=[6, 10, 10]))

    assert text.startswith("x at 10.0.0.1 #1 processes 6 records/s")


def test_a_group_that_just_appeared_is_told_so_among_others():
    """What others of its batch have of a past says nothing of it."""
    old = series(THREE, TENS, _behind(by=[90, 50, 0], does=[10, 10, 10]))
    new = replace(old[-1], group="new")
    alone = observe(batch_of([new]), [], Known.nothing(1)).diagnoses
    beside = observe(
        batch_of([old[-1], new]), [batch_of([one]) for one in old[-2::-1]], Known.nothing(2)
    ).diagnoses

    assert [fact.measure for fact in beside[1].facts] == ["no_past"]
    assert beside[1].facts == alone[0].facts


def _held(*, stable, commits, high=None, steps=6, **rule):
    """A group of one member and partition, in whose log a transaction may be open, ten records/s arriving."""
    taken = [
        groups(
            make_snapshot(
                number=number,
                topics=[topic("t", 2, end=[high[number], 0], last_stable=[stable[number], 0])],
                groups=[
                    group("g", members=members_of([0, 1]), committed={"t": [commits[number], 0]})
                ],
            ),
            lambda _: rule.get("isolation") == "read_committed",
        )[0]
        for number in range(steps)
    ]
    [diagnosed] = observed_series(taken).diagnoses
    return diagnosed.diagnosis, "; ".join(map(words, diagnosed.facts))


HIGH = [3000 * number for number in range(1, 7)]
HANGING = Diagnosis.HANGING_TRANSACTION
HUNG = "a transaction in t-0 has been open for 15 min, and the group waits for its end"


@pytest.mark.parametrize("rule", [{}, {"isolation": "read_committed"}])
@pytest.mark.parametrize(
    ("situation", "stable", "commits", "expected"),
    [
        ("it hangs", [3000, 6000, *[9000] * 4], [3000, 6000, *[9000] * 4], (HANGING, HUNG)),
        ("markers lie between", [3000, 6000, *[9000] * 4], [2998, 5998, *[8998] * 4], (HANGING, HUNG)),
        ("each one ends soon", [h - 100 for h in HIGH], [h - 100 for h in HIGH], (Diagnosis.HEALTHY, "")),
    ],
)  # fmt: skip
def test_a_transaction_that_stays_open(situation, stable, commits, expected, rule):
    """The group waits where it began, whether or not it is known to read committed records only."""
    assert _held(stable=stable, commits=commits, high=HIGH, **rule) == expected, situation


def test_who_stands_elsewhere_does_not_wait_for_a_transaction():
    """A record on which the consumer fails, before that with which the transaction began."""
    diagnosis, _ = _held(
        stable=[3000, 6000, *[9000] * 4], commits=[3000, 6000, *[8000] * 4], high=HIGH
    )

    assert diagnosis is not Diagnosis.HANGING_TRANSACTION


def test_records_that_retention_takes_while_the_commits_go_on():
    """From what did not go below the log start nobody can tell how many there were."""
    begins = steadily([12, 0, 0], 6, [100, 0, 0])
    commits = steadily([12, 10, 10], 6, [140, 9000, 9000])
    ends = steadily([12, 10, 10], 6, [90_000, 9000, 9000])

    assert _diagnosed(THREE, ends, commits, begins=begins) == (
        Diagnosis.DATA_LOSS,
        "retention deletes unread records of 1 partition (t-0)",
    )


FOUR = members_of([0, 1], [2, 3], [4, 5], [6, 7])


def _eight(rates, *, by, does, members=FOUR, samples=5, **other):
    """The diagnosis of eight partitions at these rates, so far behind, of members that do so much of each."""
    ends = steadily(rates, samples, [90_000] * 8)
    commits = steadily(does, samples, [90_000 - one for one in by])
    return _diagnosed(members, ends, commits, **other)


@pytest.mark.parametrize(
    ("rates", "does", "expected"),
    [
        ([40, 5, 5, 5, 5, 5, 5, 5], [15, 5, 5, 5, 5, 5, 5, 5], Diagnosis.HOT_PARTITION),
        ([30, 20, 20, 20, 20, 20, 20, 20], [10] * 8, Diagnosis.UNDER_PROVISIONED),
        ([40, 5, 40, 5, 40, 5, 5, 5], [15, 5, 15, 5, 15, 5, 5, 5], Diagnosis.UNDER_PROVISIONED),
        ([60, 15, 15, 15, 15, 15, 15, 15], [10] * 8, Diagnosis.UNDER_PROVISIONED),
    ],
    ids=[
        "one of eight, and the rest fits",
        "above every member, but not twice the others",
        "three of eight are no exception",
        "without it the rest is too much as well",
    ],
)
def test_a_hot_partition_stands_out(rates, does, expected):
    """A quarter of the partitions at most, each with twice what is usual, and without them the others fit."""
    by = [9000 if rate > able else 0 for rate, able in zip(rates, does, strict=True)]
    diagnosis, text = _eight(rates, by=by, does=does)

    assert diagnosis is expected, text
    if expected is Diagnosis.HOT_PARTITION:
        assert text.startswith("t-0 receives 40 records/s")


def test_too_few_members_needs_what_they_can_do():
    """What one slow member does says nothing of three others that never had more to do than they did."""
    rates = [14, 14, *[11] * 6]
    diagnosis, _ = _eight(rates, by=[9000, 9000, *[0] * 6], does=[11.5, 11.5, *[11] * 6])

    assert diagnosis is Diagnosis.SKEWED_LOAD


@pytest.mark.parametrize(
    ("rates", "does", "expected"),
    [
        ([10] * 8, [9, 9, *[10] * 6], Diagnosis.SLOW_MEMBER),
        ([12, 12, *[6] * 6], [10, 10, *[6] * 6], Diagnosis.SKEWED_LOAD),
        ([12, 12, *[10.5] * 6], [10, 10, *[10.5] * 6], Diagnosis.SKEWED_LOAD),
        ([10] * 8, [9, 9, 9, 9, 9, 9, 10, 10], Diagnosis.SKEWED_LOAD),
    ],
    ids=[
        "its equals keep up with what is too much for it",
        "it only has twice as much to do as its peers",
        "a little slower than its peers, it has more to do than they are known to do",
        "most of its equals are overloaded, too",
    ],
)
def test_a_member_that_is_overloaded_alone_is_slow(rates, does, expected):
    """At nine tenths of what its equals keep up with; who just has more to do is not slow."""
    by = [9000 if rate > able else 0 for rate, able in zip(rates, does, strict=True)]
    diagnosis, text = _eight(rates, by=by, does=does)

    assert diagnosis is expected, text


def test_a_member_is_compared_with_its_own_past():
    """Its peers have nothing to do, so that nobody knows their speed."""
    idle = members_of([0, 1], [], [])
    ends = steadily([80, 80], 9, [900_000] * 2)
    well, slow = ends[:5], steadily([60, 60], 5, ends[4])[1:]
    diagnosis, text = _diagnosed(idle, ends, [*well, *slow])

    assert diagnosis is Diagnosis.SLOW_MEMBER
    assert text == (
        "c-0 processes 120 records/s; 160 records/s incoming; c-0 processed 160 records/s before"
    )


def test_members_that_all_became_slower_are_too_few():
    """Two of two: that is no slow member."""
    ends = steadily([80, 80], 9, [900_000] * 2)
    well, slow = ends[:5], steadily([60, 60], 5, ends[4])[1:]
    diagnosis, _ = _diagnosed(members_of([0], [1]), ends, [*well, *slow])

    assert diagnosis is Diagnosis.UNDER_PROVISIONED


@pytest.mark.parametrize(
    ("hosts", "told"),
    [
        (["a", "a", "b", "b"], "; c-0, c-1 run on one host, a"),
        (["a", "b", "a", "b"], ""),
        (["a", "a", "a", "a"], ""),
    ],
    ids=["both of one host", "each host has one that keeps up", "all members are there"],
)
def test_members_that_are_slow_together_on_a_host(hosts, told):
    """The host is named if all of the group that run there are slow, and not everybody does."""
    members = [{**one, "client_host": f"/{host}"} for one, host in zip(FOUR, hosts, strict=True)]
    diagnosis, text = _eight(
        [10] * 8, by=[9000] * 4 + [0] * 4, does=[4] * 4 + [10] * 4, members=members
    )

    assert diagnosis is Diagnosis.SLOW_MEMBER
    assert text.partition("incoming; c-1")[2].partition("incoming")[2] == told


def test_a_group_that_was_behind_when_it_appeared_is_judged_soon():
    """After three intervals in which its commits moved nobody waits for an hour to learn how often it commits."""
    asked = {"by": [9000] * 8, "does": [9] * 8, "rule": {"commit_interval_seconds": None}}
    found = [_eight([10] * 8, samples=count, **asked)[0] for count in (2, 3, 4)]

    assert found == [Diagnosis.UNKNOWN, Diagnosis.UNKNOWN, Diagnosis.UNDER_PROVISIONED]
