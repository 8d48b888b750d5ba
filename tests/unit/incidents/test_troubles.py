"""What of a group somebody may be woken for, held against groups whose truth is known because they are simulated."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from functools import cache

import numpy as np
import pytest

from evenkeel.engine.config import IncidentRules, Settings
from evenkeel.engine.incidents.evaluation import Judged, Trouble
from evenkeel.engine.incidents.troubles import judged_of
from evenkeel.engine.messages.wording import incidents
from evenkeel.engine.messages.wording.facts import words
from evenkeel.engine.messages.wording.troubles import CLAUSES
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.batch import GroupBatch
from evenkeel.engine.model.facts import Fact
from evenkeel.engine.model.states import ALARMS, Diagnosis
from evenkeel.engine.pipeline.measure import observed_of
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast, read_batch
from evenkeel.engine.snapshots.learned import Learned
from tests.helpers.fluid import EVERY, FIRST
from tests.helpers.fluid.lake import situations_lake
from tests.helpers.series import members_of, observed_series, series, steadily

pytestmark = pytest.mark.slow

LOOKBACK = Settings().lookback
SOME = (
    *("slow-member", "slow-member-locked", "two-slow-members", "slow-member-mended"),
    *("silent-member", "silent-member-hourly", "stuck-partition", "unassigned-partitions"),
    *("hanging-transaction", "retention-reached", "hot-alone", "hot-shared", "too-few-members"),
    *("as-many-members-as-partitions", "catching-up", "rewound", "no-members", "stopped"),
    *("rebalancing", "losing-records", "skipped-records", "unreadable", "slower-at-night"),
    *("skewed-load", "leaking-member", "healthy-idle"),
)
"""Situations with troubles of every kind; what is said of all of them is in `pipeline/test_situations.py`."""


@cache
def seen() -> list[tuple[Observation, tuple[GroupBatch, ...]]]:
    """What is observed of some situations at each snapshot, and the snapshots before."""
    (lake, ids), settings = situations_lake(SOME), Settings()
    earlier: tuple[GroupBatch, ...] = ()
    learned: dict[str, Learned] = {}
    observations = []
    for snapshot_id in ids:
        batch = read_batch(lake, settings, snapshot_id, list(SOME))
        groups = BatchWithPast(batch=batch, earlier=earlier, withheld={}, learned=learned)
        observed = observed_of(settings, groups)
        observations.append((observed, earlier))
        intervals = zip(batch.headers, observed.commit_interval.tolist(), strict=True)
        learned = {
            each.group: Learned(commit_interval=seconds)
            for each, seconds in intervals
            if not np.isnan(seconds)
        }
        earlier = (batch, *earlier)[:LOOKBACK]
    return observations


@cache
def judged() -> dict[str, dict[int, Judged]]:
    """By situation, what each snapshot says of it."""
    by_name: dict[str, dict[int, Judged]] = defaultdict(dict)
    for number, (observed, earlier) in enumerate(seen()):
        rules = [IncidentRules()] * len(observed.batch)
        for each in judged_of(observed, rules, earlier):
            by_name[each.group_id][number] = each
    return by_name


def trouble(name: str, at: int, cause: Diagnosis) -> Trouble:
    """What a snapshot says of a situation and cause."""
    return next(each for each in judged()[name][at].troubles if each.kind is cause)


def runs(name: str, causes: set[Diagnosis]) -> list[tuple[int, int]]:
    """The first and last snapshot of each run in which one of some causes is seen."""
    spans: list[tuple[int, int]] = []
    for number, each in judged()[name].items():
        if causes & {trouble.kind for trouble in each.troubles}:
            extends = bool(spans) and spans[-1][1] == number - 1
            first = spans.pop()[0] if extends else number
            spans.append((first, number))
    return spans


@pytest.mark.parametrize("name", SOME)
def test_the_first_trouble_is_the_diagnosis(name: str) -> None:
    """But for what says how bad that is; of a group of which nothing is told the diagnosis wakes nobody."""
    told = [each for each in judged()[name].values() if each.troubles]
    firsts = [
        (each.diagnosis, next(t.kind for t in each.troubles if t.kind not in ALARMS))
        for each in told
    ]

    assert [pair for pair in firsts if pair[0] is not pair[1]] == []


def test_what_has_nothing_to_read_needs_nobody() -> None:
    """A group without members in whose partitions nothing arrives is no incident, in no snapshot."""
    assert runs("stopped", set(Diagnosis)) == []


def test_a_slow_member_does_not_make_the_group_too_small() -> None:
    """Where the others only show what they keep up with, nobody says that all together cannot do it."""
    assert runs("slow-member", {Diagnosis.UNDER_PROVISIONED}) == []


def test_one_silent_member_has_not_stopped_an_hourly_group() -> None:
    """Between two of its commits nothing moves, and yet only who is overdue is silent."""
    assert runs("silent-member-hourly", {Diagnosis.GROUP_NOT_COMMITTING}) == []


def test_what_cannot_be_read_is_not_known() -> None:
    """While the ends of its partitions cannot be read a group is neither well nor anything else."""
    unread = judged()["unreadable"][40]

    assert not unread.known
    assert [each.kind for each in unread.troubles] == [Diagnosis.UNKNOWN]


def test_who_is_to_act_knows_where() -> None:
    """The host of who is silent, the offset and the owner of what is stuck, who left and when they committed."""

    def trace(name: str, at: int, cause: Diagnosis, measure: str) -> Fact:
        return next(f for f in trouble(name, at, cause).facts if f.measure == measure)

    host = trace("silent-member", 30, Diagnosis.MEMBER_NOT_COMMITTING, "silent_hosts")
    stuck = trace("stuck-partition", 30, Diagnosis.STUCK_PARTITION, "stuck_at")
    members = trace("no-members", 35, Diagnosis.NO_MEMBERS, "last_members")
    commit = trace("no-members", 35, Diagnosis.NO_MEMBERS, "last_commit")
    left = FIRST.timestamp() + 29 * EVERY

    assert [name.count(".") for name in host.subjects] == [3]
    assert stuck.before is not None
    assert stuck.after is not None
    assert 0 < stuck.before < stuck.after
    assert " at 10." in stuck.subjects[1]
    assert all(" at 10." in name for name in members.subjects)
    assert members.after == left
    assert commit.after is not None
    assert abs(commit.after - left) <= EVERY + 60


def test_since_when_is_as_far_back_as_snapshots_tell() -> None:
    """A silent member since its last commit, nobody there since the first snapshot that saw nobody."""
    silent = trouble("silent-member", 22, Diagnosis.MEMBER_NOT_COMMITTING)
    nobody = trouble("no-members", 35, Diagnosis.NO_MEMBERS)
    went = FIRST + timedelta(seconds=20 * EVERY)

    assert silent.since is not None
    assert abs((silent.since - went).total_seconds()) < 60
    assert nobody.since == FIRST + timedelta(seconds=30 * EVERY)


def test_a_trouble_has_its_numbers() -> None:
    """What is wrong comes first among the facts, then who was there last, then how bad it is."""
    nobody = trouble("no-members", 40, Diagnosis.NO_MEMBERS)

    assert (
        words(nobody.facts[0]) == "no member consumes its 16 partitions; 1,545 records/s incoming"
    )
    assert [fact.measure for fact in nobody.facts[1:]] == [
        "last_members",
        "last_commit",
        "total_lag",
        "delay_seconds",
    ]
    assert nobody.amount == nobody.facts[4].after


def test_all_members_silent_is_a_group_that_stopped() -> None:
    """Where nothing that waits is consumed, that is said, and not each member."""
    observed, earlier = seen()[40]
    number = observed.batch.place["silent-member"]
    rows = observed.batch.rows(number)
    counted = observed.counted.copy()
    counted[rows] &= observed.still[rows]
    alone = replace(observed, evidence=replace(observed.evidence, counted=counted))

    causes = [
        each.kind
        for each in judged_of(alone, [IncidentRules()] * len(SOME), earlier)[number].troubles
    ]

    assert causes == [Diagnosis.GROUP_NOT_COMMITTING, Diagnosis.CATCHING_UP]


MEMBERS_UNREAD = "members: NOT_COORDINATOR (15)"
"""What a group's row says where its coordinator did not describe it; it has no members then."""


@pytest.mark.parametrize(
    ("state", "error", "kinds"),
    [
        ("Empty", None, {Diagnosis.NO_MEMBERS}),
        ("Stable", MEMBERS_UNREAD, {Diagnosis.UNKNOWN, Diagnosis.CATCHING_UP}),
        ("", MEMBERS_UNREAD, {Diagnosis.UNKNOWN, Diagnosis.CATCHING_UP}),
        (
            "Empty",
            "committed offsets: NOT_COORDINATOR (15)",
            {Diagnosis.UNKNOWN, Diagnosis.NO_MEMBERS},
        ),
    ],
)
def test_members_that_could_not_be_read_are_not_gone(
    state: str, error: str | None, kinds: set[Diagnosis]
) -> None:
    """Of a group without members in its row nobody is there to consume, unless its members could not be read."""
    commits = steadily([0, 10, 10], 5, [0, 9000, 9000])
    ends = steadily([10, 10, 10], 5, [9000, 9000, 9000])
    taken = series(
        members_of([0], [1], [2]), ends, commits, changed={4: []}, state=state, error=error
    )

    [judged_now] = judged_of(observed_series(taken), [IncidentRules()])

    assert {each.kind for each in judged_now.troubles} == kinds
    assert judged_now.known == (error is None)


def test_what_is_withheld_cannot_be_judged() -> None:
    """A group that validation withholds is unreadable, with its reason."""
    observed, earlier = seen()[40]
    rules = [IncidentRules()] * len(observed.batch)

    each = judged_of(observed, rules, earlier, {"healthy-idle": "no commits"})
    withheld = next(one for one in each if one.group_id == "healthy-idle")

    assert not withheld.known
    assert [words(c.facts[0]) for c in withheld.troubles] == ["no commits"]


def test_a_group_on_its_way_back_is_recovering() -> None:
    """Behind by more than half of its objective and less than all of it, it has no trouble and is not well."""
    back = judged()["catching-up"][54]

    assert (back.troubles, back.recovering) == ((), True)
    assert not judged()["catching-up"][60].recovering


@pytest.mark.parametrize("name", SOME)
def test_every_trouble_has_words(name: str) -> None:
    """No fact of a trouble is shown by the name of its measure only."""
    troubles = [each for judged_at in judged()[name].values() for each in judged_at.troubles]
    measures = {fact.measure for each in troubles for fact in each.facts}

    assert measures <= {*CLAUSES, *incidents.HOW_BAD}


def test_who_loses_records_is_shown_how_long_they_are_kept() -> None:
    """The retention of the first topic that loses some, as its configuration has it."""
    found = trouble("losing-records", 60, Diagnosis.DATA_LOSS)
    [kept] = [each for each in found.facts if each.measure == "retention_ms"]
    assert (kept.subjects, kept.after) == (("losing-records.t0",), 3_600_000)


@pytest.mark.parametrize(
    ("name", "at", "said"),
    [
        # traffic grew at snapshot 10, three members can do 1,200/s
        ("too-few-members", 15, ["1,576 records/s arrive, 901 records/s 45 min before"]),
        # what arrives is what it was an hour ago: nothing of the beginning is said again
        ("too-few-members", 40, []),
        (
            "leaking-member",
            43,
            ["leaking-member-3 does 280 records/s, 360 records/s 45 min before"],
        ),
        ("silent-member", 28, ["silent-member-2 does 0 records/s, 392 records/s 45 min before"]),
        ("no-members", 34, []),
    ],
)
def test_what_arrives_and_what_members_do_is_compared(name: str, at: int, said: list[str]) -> None:
    """With the oldest snapshots that are looked back on, where it differs by a quarter."""
    assert [words(fact) for fact in judged()[name][at].changed] == said


@pytest.mark.parametrize(("at", "used"), [(30, None), (45, 0.65), (63, 0.96)])
def test_half_of_retention_is_told(at: int, used: float | None) -> None:
    """By the age of the oldest unread record; below half it is no news."""
    facts = trouble("retention-reached", at, Diagnosis.UNDER_PROVISIONED).facts
    shares = [fact.after for fact in facts if fact.measure == "retention_used"]
    assert shares == ([] if used is None else [pytest.approx(used, abs=0.03)])
