"""What a report shows from a real history, beside what it shows from the lake of the same snapshots."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from unittest.mock import ANY

import psycopg
import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresReports
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports.served import UNKNOWN
from evenkeel.engine.records import Outcome, StepRun
from evenkeel.engine.report import render
from evenkeel.engine.report.from_history import stored_report
from evenkeel.engine.report.report import report
from evenkeel.engine.report.served import ServedHistory, served_group, size_now
from tests.helpers import cookbook_history
from tests.helpers.history_rows import FIRST, checks, fill, manifest, metrics, validation

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

CLUSTER, SETTINGS = cookbook_history.CLUSTER, cookbook_history.SETTINGS
NOW = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake() -> Recording:
    """The snapshots."""
    made = Recording()
    assert [*cookbook_history.write_snapshots(made)]
    return made


@pytest.fixture(scope="module")
def module_database_url(module_cookbook_url: str) -> str:
    """A history of two days, made of the same snapshots."""
    return module_cookbook_url


@pytest.fixture(scope="module")
def reports(module_database_url: str) -> PostgresReports:
    """Reports of it."""
    return PostgresReports(module_database_url)


@pytest.fixture(scope="module")
def stored(reports):
    """The report from the history."""
    return stored_report(reports, CLUSTER, now=NOW)


@pytest.fixture(scope="module")
def memory() -> MemoryHistory:
    """A history in memory of the same snapshots, once they are evaluated."""
    return MemoryHistory()


@pytest.fixture(scope="module")
def judged(reports, lake, memory):
    """The report from the lake."""
    return report(lake, memory, SETTINGS, CLUSTER, NOW, "the lake")


SAME = (
    *("group_id", "owner", "kind", "state", "strategy", "diagnosis", "reason", "diagnosed_at"),
    *("now", "members", "partitions", "error", "findings", "open_incident"),
    *("loads", "advice", "rebalances"),
)


@pytest.mark.parametrize("name", SAME)
def test_what_both_know_is_the_same(stored, judged, name):
    """Worst first in both, and each number of a group, over time and now, before and after the advised switch."""
    assert stored.taken_at == judged.taken_at
    assert [getattr(one, name) for one in stored.groups] == [
        getattr(one, name) for one in judged.groups
    ]


def test_groups_stood_the_same(stored, judged):
    """Over all snapshots, in the seven digits that the history keeps."""
    for mine, other in zip(stored.groups, judged.groups, strict=True):
        for name in ("lag", "delay_seconds", "time_lag_seconds"):
            expected = [getattr(each, name) for each in other.standings]
            found = [getattr(each, name) for each in mine.standings]
            assert [value is None for value in found] == [value is None for value in expected]
            known = [value for value in found if value is not None]
            assert known == pytest.approx([v for v in expected if v is not None], rel=1e-6)


def test_what_came_of_forecasts_is_the_same(stored, judged):
    """Where the history has a forecast, the lake has it, too, and what came of it."""
    compared = 0
    for mine, other in zip(stored.groups, judged.groups, strict=True):
        known = {(band.made_at, band.due): band for band in other.forecasts}
        for band in mine.forecasts:
            twin = known[band.made_at, band.due]
            assert band.came == twin.came
            assert [band.low, band.expected, band.high] == pytest.approx(
                [twin.low, twin.expected, twin.high]
            )
            compared += 1
    assert compared > 100
    inside, known_there = stored.held[3600.0]
    assert 0 < inside <= known_there <= judged.held[3600.0][1]


def test_metrics_have_the_same_numbers(reports, judged, memory):
    """Of each group, whichever history has it; only what is served of a live cluster is asked in memory."""
    [cluster] = ServedHistory(reports, CLUSTER).look()
    others = {row["group_id"]: row for row in memory.served_groups(CLUSTER)}
    assert {group.group_id for group in cluster.groups} == others.keys()
    known = set()
    for group in cluster.groups:
        row = others[group.group_id]
        other = served_group(row, size_now(row), row["open_incidents"])
        for name, value in asdict(group).items():
            expected = getattr(other, name)
            numbers = isinstance(expected, float | tuple) and None not in (expected, value)
            assert value == (pytest.approx(expected) if numbers else expected), (group, name)
            known |= {name} if value not in (None, UNKNOWN, 0) else set()
    assert known >= {"lag", "soon_lag", "drained", "production_per_second", "advice", "members"}
    assert known >= {"capacity_per_second", "utilization", "members_useful", "open_incidents"}
    assert known >= {"members_needed", "time_lag_seconds"}
    assert cluster.taken_at == judged.taken_at[-1]
    assert cluster.held[3600.0][1] > 0
    assert cluster.advice_seconds is not None
    assert cluster.pipeline_incidents is not None
    kept, checked = cluster.promises
    cards = [card for card in judged.scorecard if card.known]
    assert checked == sum(card.known for card in cards) > 0
    assert kept * checked == pytest.approx(sum(c.no_worse_share * c.known for c in cards))


def test_a_lower_limit_of_a_time_lag_is_served_as_one(reports, module_database_url):
    """Where a partition that counts is that old at least; it is a metric of its own."""
    [before] = ServedHistory(reports, CLUSTER).look()
    first, second = [one for one in before.groups if one.time_lag_seconds][:2]
    basis = """
        UPDATE partition_block SET
            words = words || CAST(%s AS text),
            time_lag_basis = array_fill(cardinality(words) + 1, ARRAY[cardinality(partition)])
        WHERE group_id = %s"""
    with psycopg.connect(module_database_url) as database:
        database.execute(basis, ("at least", first.group_id))
    [after] = ServedHistory(reports, CLUSTER).look()
    with psycopg.connect(module_database_url) as database:
        database.execute(basis, ("interpolated", first.group_id))
    found = {one.group_id: one for one in after.groups}
    late = found[first.group_id]
    assert late.time_lag_seconds is None
    assert late.time_lag_at_least_seconds == first.time_lag_seconds
    assert found[second.group_id] == second


def test_metrics_of_some_groups_alone(reports):
    """By a pattern; a cluster that is not there is none."""
    [cluster] = ServedHistory(reports, pattern="search-*").look()
    assert {group.group_id for group in cluster.groups} == {"search-index", "search-suggest"}
    assert ServedHistory(reports, "elsewhere").look() == []


def test_one_group_alone_is_as_in_the_whole(reports, stored):
    """The light form reads the rows of one group, and shows the same of it."""
    alone = stored_report(reports, CLUSTER, group="payments-app", now=NOW)
    assert alone.groups == tuple(g for g in stored.groups if g.group_id == "payments-app")
    assert alone.taken_at == stored.taken_at
    assert {card.group_id for card in alone.scorecard} == {"payments-app"}


def test_a_pattern_and_a_time_select(reports, stored):
    """Shell patterns, not before a moment, and so many snapshots at most."""
    since = stored.taken_at[-10]
    found = stored_report(reports, CLUSTER, "search-*", since=since, now=NOW)
    assert {group.group_id for group in found.groups} == {"search-index", "search-suggest"}
    assert found.taken_at == stored.taken_at[-10:]
    few = stored_report(reports, CLUSTER, "search-*", now=NOW, snapshots=3)
    assert few.taken_at == stored.taken_at[-3:]
    assert few.groups[0].standings == found.groups[0].standings[-3:]


def test_a_page_of_it(stored):
    """What is known makes a page."""
    assert "payments-app" in render(stored)


def test_racks_as_far_as_the_history_knows_them(stored, judged):
    """Partitions by their owners' racks, and how many of them have a replica near; leaders' racks are unknown."""
    mine, other = ({g.group_id: g.racks for g in each.groups} for each in (stored, judged))
    assert [name for name, racks in mine.items() if racks] == ["clicks-archive"]
    assert {name for name, racks in other.items() if racks} == {"clicks-archive"}
    racks, judged_racks = mine["clicks-archive"], other["clicks-archive"]
    assert (racks.members, racks.local) == (judged_racks.members, judged_racks.local)
    assert [sum(row) for row in racks.counts] == [sum(row) for row in judged_racks.counts]
    assert racks.leaders == (None,)


def test_how_advice_kept_its_promises_is_the_same(stored, judged):
    """What the view counts in the history is what the lake shows when it is gone through."""
    assert len(stored.scorecard) > 3

    def rounded(scorecard):
        # sums of the same numbers in another order
        saved = [row.saved_offset_seconds for row in scorecard]
        ends = [None if each is None else float(f"{each:.9g}") for each in saved]
        rows = zip(scorecard, ends, strict=True)
        return {replace(row, saved_offset_seconds=end) for row, end in rows}

    assert rounded(stored.scorecard) == rounded(judged.scorecard)


def test_who_only_reads_can_have_it(module_reader_url, stored):
    """The role `evenkeel_reader` is enough."""
    reader = PostgresReports(module_reader_url)
    assert stored_report(reader, CLUSTER, now=NOW) == replace(stored, snapshots=ANY)
    assert len(ServedHistory(reader, CLUSTER).look()) == 1


SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def odd(history: PostgresHistory, database_url: str) -> PostgresReports:
    """A history with groups of odd names, one of them gone, and a snapshot that is not measured yet."""
    for number, names in enumerate([(SCRIPT, "[a]*", "a"), (SCRIPT, "[a]*"), ()]):
        taken = manifest(number)
        history.store_snapshot(taken)
        if names:
            lags = {name: [number, 3] for name in names}
            history.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, lags))
    return PostgresReports(database_url)


def test_names_are_whatever_somebody_called_them(odd):
    """They are found by their own signs, shown as text, and stay in order of time when they are gone."""
    fleet = stored_report(odd, "demo", now=NOW)
    assert [group.group_id for group in fleet.groups] == [SCRIPT, "[a]*", "a"]
    gone = fleet.groups[-1]
    assert (gone.gone_since, gone.members, gone.now.lag) == (fleet.taken_at[0], None, None)
    assert [one and one.lag for one in gone.standings] == [3, None]
    page = render(fleet)
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    (alone,) = stored_report(odd, "demo", group="[a]*", now=NOW).groups
    assert alone == fleet.groups[1]
    assert {g.group_id for g in stored_report(odd, "demo", "[[]*", now=NOW).groups} == {"[a]*"}
    assert stored_report(odd, "demo", group="b", now=NOW).groups == ()


def test_what_nobody_measured_is_unknown(odd):
    """A snapshot that waits is counted among those taken and in no chart; what is not stored is None, never 0."""
    fleet = stored_report(odd, "demo", now=NOW)
    assert [one.state for one in fleet.snapshots] == ["waiting"] * 3
    assert len(fleet.taken_at) == 2
    group = fleet.groups[0]
    assert group.advice is None
    assert group.strategies == ()
    assert group.diagnosis is Diagnosis.UNKNOWN
    assert (group.now.lag, group.now.delay_seconds, group.racks) == (4, None, None)
    assert {load.utilization for load in group.loads} <= {None}


def test_an_empty_history_has_an_empty_page(history, database_url):
    """Nothing is known of a cluster that was never read."""
    empty = PostgresReports(database_url)
    fleet = stored_report(empty, "demo", now=NOW)
    assert empty.report_clusters() == []
    assert (fleet.groups, fleet.taken_at, fleet.snapshots) == ((), (), ())
    assert "No snapshot has been evaluated." in render(fleet)


def test_what_failed_and_what_was_withheld(history, database_url):
    """Steps with their last error, pipeline incidents, groups with their reason: of this time and cluster alone."""
    taken = manifest()
    history.store_snapshot(taken)
    for hours, error in ((-1, "before"), (1, "first"), (2, "last")):
        moment = FIRST + timedelta(hours=hours)
        history.record_step(
            StepRun(
                cluster="demo",
                snapshot_id=None,
                step="advise",
                started_at=moment,
                finished_at=moment,
                outcome=Outcome.FAILED,
                error=error,
            )
        )
    refused = validation("orders", success=False, reason="its lag is negative")
    history.store_validation(taken.snapshot_id, "metrics", checks(refused))
    fleet = stored_report(PostgresReports(database_url), "demo", now=NOW)
    (failure,) = fleet.failures
    assert (failure.step, failure.failures, failure.error) == ("advise", 2, "last")
    (withheld,) = fleet.withheld
    assert (withheld.group_id, withheld.stage, withheld.reason, withheld.snapshots) == (
        "orders",
        "metrics",
        "its lag is negative",
        1,
    )
    assert fleet.snapshots[0].withheld == 1


def test_moves_from_an_assignment_that_is_gone_say_nothing_of_now(history, database_url):
    """Who would own what is unknown once somebody else owns a partition than when it was advised."""
    fill(history)
    groups = {
        g.group_id: g for g in stored_report(PostgresReports(database_url), "demo", now=NOW).groups
    }
    group = groups["orders-app"]
    assert group.advice.verdict is Verdict.SWITCH
    (move,) = group.advice.moves
    assert (move.from_member, move.to_member) == (None, "m-1")
    (load,) = group.loads
    assert (load.partitions, load.partitions_after, load.lag_after) == (2, None, None)
    assert [(one.name, one.feasible) for one in group.strategies] == [
        ("live", True),
        ("range", True),
    ]


def test_a_rejected_snapshot_says_why(history, database_url):
    """In the words of validation; it is in no chart."""
    taken = manifest()
    history.store_snapshot(taken)
    refused = validation(None, success=False, reason="there are no brokers")
    history.store_validation(taken.snapshot_id, "snapshot", checks(refused))
    fleet = stored_report(PostgresReports(database_url), "demo", now=NOW)
    assert [one.rejected for one in fleet.snapshots] == ["there are no brokers"]
    assert fleet.taken_at == ()
