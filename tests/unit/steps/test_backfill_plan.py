"""Which past snapshots are judged again, how far an earlier run has come, and what is said where that cannot be."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest

from evenkeel.engine import steps
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.errors import InputError
from evenkeel.engine.steps.backfill_plan import begun_by, planned, question, told_given_up
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import group, make_snapshot, store, topic

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})
SIX_HOURS = 72
"""So many numbers of snapshots lie six hours apart; the first is taken at noon of 2026-03-01."""

THREE_DAYS = question("test", "2026-03-01", "2026-03-03", candidates_every="none")


def lake_of(*places: int) -> Recording:
    """A lake of a snapshot every six hours, of some of them."""
    lake = Recording()
    for place in places:
        made = make_snapshot(
            topics=[topic("t")], groups=[group("g", members=1)], number=place * SIX_HOURS
        )
        store(lake, made)
    return lake


def test_it_goes_on_though_the_lake_has_lost_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days that were judged may grow too old meanwhile: what was made of them stays and counts, nothing begins anew."""
    monkeypatch.setattr(sys.modules["evenkeel.engine.steps.backfill"], "SNAPSHOTS", 3)
    history = MemoryHistory()
    first = steps.backfill(lake_of(*range(8)), history, SETTINGS, THREE_DAYS, budget=timedelta(0))
    assert (first.done_snapshots, first.snapshots, first.finished_at) == (3, 8, None)

    younger = lake_of(*range(4, 8))
    plan = planned(younger, history, SETTINGS, THREE_DAYS)
    assert (plan.resumes, plan.row.done_snapshots, plan.row.snapshots) == (True, 3, 7)
    assert (len(plan.left), plan.missing_days) == (4, ())
    row = steps.backfill(younger, history, SETTINGS, THREE_DAYS)
    assert (row.done_snapshots, row.snapshots, row.finished_at is None) == (7, 7, False)
    assert len({each.taken_at for each in history.backfilled}) == 7
    with pytest.raises(InputError, match="from 2026-03-02 to 2026-03-03 only"):
        planned(younger, history, SETTINGS, THREE_DAYS)


def test_what_is_given_up_for_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another question by the same rules that is not done begins anew afterwards; one that is done loses nothing."""
    monkeypatch.setattr(sys.modules["evenkeel.engine.steps.backfill"], "SNAPSHOTS", 3)
    history, lake = MemoryHistory(), lake_of(*range(8))
    one_day = question("test", "2026-03-02", "2026-03-02", groups="g*", candidates_every="none")
    steps.backfill(lake, history, SETTINGS, THREE_DAYS, budget=timedelta(0))
    assert told_given_up(planned(lake, history, SETTINGS, THREE_DAYS)) is None
    assert told_given_up(planned(lake, history, SETTINGS, one_day)) == (
        "3 of 8 snapshots from 2026-03-01 to 2026-03-03, groups *, were done by the same rules: "
        "asked for again, that begins anew"
    )
    steps.backfill(lake, history, SETTINGS, one_day)
    assert told_given_up(planned(lake, history, SETTINGS, THREE_DAYS)) is None


def test_how_far_it_is_is_known_of_its_own_question_only() -> None:
    """Whether or not it is done; by other rules, or after other days, nothing is."""
    history, lake = MemoryHistory(), lake_of(*range(8))
    assert begun_by(history, SETTINGS, THREE_DAYS) is None
    row = steps.backfill(lake, history, SETTINGS, THREE_DAYS)
    assert begun_by(history, SETTINGS, THREE_DAYS) == row
    other = Settings(clusters=SETTINGS.clusters, lookback=5)
    assert begun_by(history, other, THREE_DAYS) is None
    one_day = question("test", "2026-03-02", "2026-03-02", candidates_every="none")
    steps.backfill(lake, history, SETTINGS, one_day)
    assert begun_by(history, SETTINGS, THREE_DAYS) is None


def test_every_day_without_a_snapshot_is_named() -> None:
    """Also the last one, of which less was asked for than of the first."""
    asked = question("test", "2026-03-01T13:00Z", "2026-03-03T05:00Z")
    plan = planned(lake_of(1, 12), MemoryHistory(), SETTINGS, asked)
    assert plan.missing_days == ("2026-03-02", "2026-03-03")


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-03-03", "2026-03-02", "from 2026-03-03 to 2026-03-02 ends before it begins."),
        (
            "2026-03-02T12:00Z",
            "2026-03-02T11:00Z",
            "from 2026-03-02 12:00:00 UTC to 2026-03-02 11:00:00 UTC ends before it begins.",
        ),
        (
            "2026-03-02",
            "2026-03-02",
            "the lake has no snapshot of test from 2026-03-02 to 2026-03-02.",
        ),
        ("2026-02-01", "2026-03-01", "--from 2026-03-01 --to 2026-03-01."),
        ("2026-03-01", "9999-12-31", "Days are written like 2026-11-15"),
    ],
)
def test_a_time_that_cannot_be_judged_is_said_as_it_was_asked_for(
    first: str, last: str, said: str
) -> None:
    """The last day is the one that was given, not the moment behind it; what would do lies within what was asked."""
    with pytest.raises(InputError) as refused:
        planned(lake_of(0, 8), MemoryHistory(), SETTINGS, question("test", first, last))
    assert said in str(refused.value)
