"""Which past snapshots are judged again, how far an earlier run has come, and what is said where that cannot be."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.errors import InputError
from evenkeel.engine.pipeline.backfill import planned, question, rules_of
from tests.helpers.memory import MemoryShelf
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


def test_it_goes_on_though_the_lake_has_lost_what_was_done() -> None:
    """Days that were judged may grow too old meanwhile: what was made of them stays and counts, nothing begins anew."""
    shelf, lake = MemoryShelf(), lake_of(*range(8))
    for _ in range(3):
        plan = pipeline.backfill(lake, shelf, SETTINGS, THREE_DAYS, budget=timedelta(0))
    assert (plan.done, len(plan.ids)) == (3, 8)

    younger = lake_of(*range(4, 8))
    plan = planned(younger, shelf, SETTINGS, THREE_DAYS)
    assert (plan.done, len(plan.ids), len(plan.left), plan.missing_days) == (3, 7, 4, ())
    assert pipeline.backfill(younger, shelf, SETTINGS, THREE_DAYS).left == ()
    assert len(shelf.tables.metrics) == 7
    with pytest.raises(InputError, match="only from 2026-03-02 to 2026-03-03"):
        planned(younger, MemoryShelf(), SETTINGS, THREE_DAYS)


def test_candidates_are_asked_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what has metrics only the first snapshot of each span is left then; the others stay as they are."""
    shelf, lake = MemoryShelf(), lake_of(*range(8))
    pipeline.backfill(lake, shelf, SETTINGS, THREE_DAYS)
    assert shelf.tables.candidates == {}
    twice = question("test", "2026-03-01", "2026-03-03", candidates_every="12h")
    plan = planned(lake, shelf, SETTINGS, twice)
    assert len(plan.left) == len(plan.proposed) == 4
    assert pipeline.backfill(lake, shelf, SETTINGS, twice).left == ()
    assert len(shelf.tables.advice) == 4
    assert planned(lake, shelf, SETTINGS, twice).left == ()


def test_candidates_are_those_of_snapshots_that_the_lake_still_has() -> None:
    """Of each span the first that was not thinned out, or that has some."""
    shelf, lake = MemoryShelf(), lake_of(*range(8))
    pipeline.backfill(lake, shelf, SETTINGS, THREE_DAYS)
    twice = question("test", "2026-03-01", "2026-03-03", candidates_every="12h")
    thinned = lake_of(1, 3, 5, 7)
    assert planned(thinned, shelf, SETTINGS, twice).left == tuple(thinned.snapshot_ids)
    assert pipeline.backfill(thinned, shelf, SETTINGS, twice).left == ()
    assert len(shelf.tables.advice) == 4


def test_rules_have_a_name_of_their_own() -> None:
    """By configuration, and by the pattern of groups where it is not all of them."""
    own = rules_of(SETTINGS, "*")
    assert own.startswith(f"rules_{SETTINGS.version}_")
    others = {
        rules_of(Settings(lookback=5), "*"),
        rules_of(SETTINGS, "a*"),
        rules_of(SETTINGS, "b*"),
    }
    assert len(others | {own}) == 4
    assert all(len(each) < 64 and each.replace("_", "").isalnum() for each in others)


def test_every_day_without_a_snapshot_is_named() -> None:
    """Also the last one, of which less was asked for than of the first."""
    asked = question("test", "2026-03-01T13:00Z", "2026-03-03T05:00Z")
    plan = planned(lake_of(1, 12), MemoryShelf(), SETTINGS, asked)
    assert plan.missing_days == ("2026-03-02", "2026-03-03")


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2026-03-03", "2026-03-02", "from 2026-03-03 to 2026-03-02 ends before its start."),
        (
            "2026-03-02T12:00Z",
            "2026-03-02T11:00Z",
            "from 2026-03-02 12:00:00 UTC to 2026-03-02 11:00:00 UTC ends before its start.",
        ),
        (
            "2026-03-02",
            "2026-03-02",
            "the lake has no snapshot of test from 2026-03-02 to 2026-03-02.",
        ),
        ("2026-02-01", "2026-03-01", "--from 2026-03-01 --to 2026-03-01."),
        ("2026-03-01", "2026-03-20", "snapshots of test only from 2026-03-01 to 2026-03-03"),
        ("2026-03-01", "9999-12-31", "Write days like 2026-11-15"),
        ("the day before", "2026-03-01", "is no moment"),
    ],
)
def test_a_time_that_cannot_be_judged_is_said_as_it_was_asked_for(
    first: str, last: str, said: str
) -> None:
    """The last day is the one that was given, not the moment behind it; what would do lies within what was asked."""
    with pytest.raises(InputError) as refused:
        planned(lake_of(0, 8), MemoryShelf(), SETTINGS, question("test", first, last))
    assert said in str(refused.value)


def test_a_cluster_that_is_not_known_is_refused() -> None:
    """Those that are configured are named."""
    with pytest.raises(InputError, match="no cluster 'other' is configured"):
        planned(lake_of(0), MemoryShelf(), SETTINGS, question("other", "2026-03-01", "2026-03-01"))
