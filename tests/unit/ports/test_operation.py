"""What the ports `StepRuns`, `PipelineHistory`, `Locks` and `Queries` promise, of the fake and of Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evenkeel.engine.model.errors import ClusterBusy, InputError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity, Subject
from evenkeel.engine.ports import ClusterFacts, Delivered, FailingStep, History, Posting, ToldOutage
from evenkeel.engine.records import IncidentRow, Outcome, StepRun
from tests.helpers.history_rows import FIRST, checks, fill, manifest, metrics, validation

pytest_plugins = ("tests.helpers.postgres_fixtures",)


def later(minutes: float) -> datetime:
    """That many minutes after the beginning."""
    return FIRST + timedelta(minutes=minutes)


def run(
    history: History,
    minutes: float,
    error: str | None = None,
    cluster: str | None = "demo",
    step: str = "advise",
    outcome: Outcome | None = None,
    link: str | None = None,
) -> None:
    """Note a run of a step that took a minute."""
    history.record_step(
        StepRun(
            cluster=cluster,
            snapshot_id=None,
            step=step,
            started_at=later(minutes),
            finished_at=later(minutes + 1),
            outcome=outcome or (Outcome.FAILED if error else Outcome.OK),
            error=error,
            link=link,
        )
    )


def test_a_cluster_nobody_has_heard_of_has_empty_facts(history: History) -> None:
    """In the order asked for, beside one that is known."""
    taken = manifest()
    history.store_snapshot(taken)
    unknown, known = history.cluster_facts(["eu", "demo"])
    assert unknown == ClusterFacts(cluster="eu")
    assert (known.cluster, known.newest_snapshot_id) == ("demo", taken.snapshot_id)
    assert history.cluster_facts([]) == []


def test_a_step_fails_since_its_last_success(history: History) -> None:
    """Failures before it are past; those after it count, with the newest error, longest failing first."""
    for minutes, error in ((0, "old"), (2, None), (4, "x"), (6, "new")):
        run(history, minutes, error)
    run(history, 3, "no broker", step="take_snapshot")
    run(history, 9, "elsewhere", cluster="eu")
    run(history, 1, "past", step="alert")
    run(history, 2, step="alert")
    facts, other = history.cluster_facts(["demo", "eu"])
    assert facts.failing == (
        FailingStep(
            step="take_snapshot",
            failures=1,
            failing_since=later(4),
            last_failed_at=later(4),
            error="no broker",
        ),
        FailingStep(
            step="advise",
            failures=2,
            failing_since=later(5),
            last_failed_at=later(7),
            error="new",
            runs=2,
        ),
    )
    assert [step.error for step in other.failing] == ["elsewhere"]
    assert {facts.watched_since, other.watched_since} == {FIRST}


def test_tries_of_one_run_are_told_apart_from_runs(history: History) -> None:
    """Failed tries that have one link are of one run; one that was skipped is no failed run."""
    for minutes, link in ((1, "/run/1"), (2, "/run/1"), (3, "/run/2")):
        run(history, minutes, "no broker", link=link)
    run(history, 4, "still running", outcome=Outcome.SKIPPED, link="/run/3")
    [facts] = history.cluster_facts(["demo"])
    assert [(step.failures, step.runs, step.link) for step in facts.failing] == [(4, 2, "/run/3")]


def test_a_skipped_run_is_told_apart_from_a_failed_one(history: History) -> None:
    """It ends no failure, and is none itself: whoever asks learns what the last run was."""
    run(history, 1, "no broker", step="take_snapshot")
    run(history, 3, "still running", step="take_snapshot", outcome=Outcome.SKIPPED)
    [facts] = history.cluster_facts(["demo"])
    assert [(step.failures, step.skipped, step.error) for step in facts.failing] == [
        (2, True, "still running")
    ]
    run(history, 5, "no broker", step="take_snapshot")
    [facts] = history.cluster_facts(["demo"])
    assert [(step.failures, step.skipped) for step in facts.failing] == [(3, False)]


def outage(key: str = "history unreachable 1") -> ToldOutage:
    """One that was told after a minute, and over after nine."""
    opened = Posting(key=f"{key} opened", channel="#kafka", message=MESSAGE)
    return ToldOutage(
        incident=IncidentRow(
            cluster="*",
            key=key,
            kind="history unreachable",
            severity="critical",
            began_at=later(0),
            opened_at=later(1),
            last_seen_at=later(9),
            closed_at=later(9),
            notified_at=later(1),
            alert_key=opened.key,
            facts={"error": "no answer"},
        ),
        opened=opened,
        delivered=Delivered(channel="C1", timestamp="7.1"),
        ends=(
            Posting(key=f"{key} closed", channel="#kafka", message=MESSAGE, replaces=opened.key),
            Posting(
                key=f"{key} closed thread", channel="#kafka", message=MESSAGE, answers=opened.key
            ),
        ),
    )


def test_what_was_missed_is_noted_once_with_what_kept_it(history: History) -> None:
    """The runs, an incident that is over, and its end for what was told and its thread; a second time nothing."""
    missed = StepRun(
        cluster=None,
        snapshot_id=None,
        step="watch",
        started_at=later(0),
        finished_at=later(1),
        outcome=Outcome.FAILED,
        error="no answer",
    )
    assert history.note_missed([missed], outage())
    assert not history.note_missed([missed], outage())
    run(history, 10, "no broker")
    [facts] = history.cluster_facts(["demo"])
    assert facts.outage_until == later(9)
    # the one before its end is explained by it
    assert [(step.step, step.failures) for step in facts.failing] == [("advise", 1)]
    assert history.unwatched(["demo"]) == []
    change, line = history.pending_alerts()
    assert (change.key, line.key) == (
        "history unreachable 1 closed",
        "history unreachable 1 closed thread",
    )
    assert change.replaces == line.answers == "history unreachable 1 opened"
    assert change.standing == line.standing == Delivered(channel="C1", timestamp="7.1")


def test_what_failed_before_an_outage_is_not_over_with_it(history: History) -> None:
    """A cluster that could not be read before the history was away is not called reachable when that is back."""
    for minutes in (-20, -15):
        run(history, minutes, "no broker", step="take_snapshot", link=f"/run/{minutes}")
    assert history.note_missed([], outage())
    [facts] = history.cluster_facts(["demo"])
    assert [(step.step, step.runs, step.error) for step in facts.failing] == [
        ("take_snapshot", 2, "no broker")
    ]


def test_what_nobody_was_told_of_is_noted_alone(history: History) -> None:
    """The runs, and no incident."""
    assert history.note_missed([])
    assert history.pending_alerts() == []


def test_a_step_that_serves_all_clusters_stands_with_the_first(history: History) -> None:
    """So that it is told, and once; its success ends it."""
    run(history, 1, "disk full", cluster=None, step="maintain")
    first, second = history.cluster_facts(["eu", "demo"])
    assert [step.step for step in first.failing] == ["maintain"]
    assert second.failing == ()
    run(history, 2, cluster=None, step="maintain")
    assert [facts.failing for facts in history.cluster_facts(["eu", "demo"])] == [(), ()]


def test_snapshots_newer_than_the_newest_advice_wait(history: History) -> None:
    """But for rejected ones; all of them wait where there is no advice yet."""
    waiting = manifest(-1)
    history.store_snapshot(waiting)
    (before,) = history.cluster_facts(["demo"])
    assert (before.unadvised, before.oldest_unadvised_id) == (1, waiting.snapshot_id)
    fill(history, 0)
    taken = [manifest(number) for number in (2, 1, 3)]
    for one in taken:
        history.store_snapshot(one)
    rejected = taken[2].snapshot_id
    history.store_validation(rejected, "snapshot", checks(validation(None, success=False)))
    (facts,) = history.cluster_facts(["demo"])
    assert (facts.unadvised, facts.oldest_unadvised_id) == (2, taken[1].snapshot_id)
    assert facts.oldest_unadvised_at == later(1) + timedelta(seconds=3)
    assert facts.newest_snapshot_id == facts.rejected_snapshot_id == rejected
    assert facts.newest_finished_at == facts.rejected_at == later(3) + timedelta(seconds=3)


def test_a_snapshot_from_the_future_is_not_the_newest(history: History) -> None:
    """A clock was ahead when it was taken: that there is none since, and what waits, is seen all the same."""
    taken = [manifest(number) for number in (0, 1)]
    for one in taken:
        history.store_snapshot(one)
    fill(history, 300)
    (blind,) = history.cluster_facts(["demo"])
    (facts,) = history.cluster_facts(["demo"], later(2))
    assert blind.unadvised == 0
    assert (facts.newest_snapshot_id, facts.unadvised) == (taken[1].snapshot_id, 2)
    assert facts.gap_seconds == (later(1) - later(0)).total_seconds()


def test_snapshots_are_counted_whose_groups_nobody_looked_at(history: History) -> None:
    """From the first after the one that was watched last; where none ever was, nothing is known."""
    taken = [manifest(number=number) for number in range(3)]
    for one in taken:
        history.store_snapshot(one)
    ends = [datetime.fromisoformat(one.facts["finished_at"]) for one in taken]
    for number, expected in ((None, None), (0, ends[1]), (2, None)):
        if number is not None:
            before = history.incident_watch("demo").snapshot_id
            assert history.store_watch(
                "demo", taken[number].snapshot_id, ends[number], [], [], [], before=before
            )
        [facts] = history.cluster_facts(["demo"])
        assert facts.unwatched_since == expected


def test_only_the_newest_verdict_counts(history: History) -> None:
    """A snapshot that was accepted after a rejected one ends the rejection; one not yet judged does not."""
    for number, failed in ((0, True), (1, False), (2, None)):
        taken = manifest(number)
        history.store_snapshot(taken)
        if failed is not None:
            check = validation(None, success=not failed)
            history.store_validation(taken.snapshot_id, "snapshot", checks(check))
        (facts,) = history.cluster_facts(["demo"])
        assert (facts.rejected_at is None) == (number > 0)


def test_partial_snapshots_are_counted_in_a_row(history: History) -> None:
    """Since the last whole one, with what the newest could not read; and how many of the newest two are whole."""
    found = []
    for number, problems in enumerate((["old"], [], ["a"], ["b", "c"], [], [])):
        history.store_snapshot(manifest(number, problems=problems))
        (facts,) = history.cluster_facts(["demo"])
        found.append(
            (facts.partial_snapshots, facts.partial_problems, facts.whole_snapshots)
            + ((facts.partial_since,) if facts.partial_since else ())
        )
    ends = [later(number) + timedelta(seconds=3) for number in range(6)]
    assert found == [
        (1, ("old",), 0, ends[0]),
        (0, (), 1),
        (1, ("a",), 1, ends[2]),
        (2, ("b", "c"), 0, ends[2]),
        (0, (), 1),
        (0, (), 2),
    ]


MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE, severity=Severity.INFO, at=FIRST, title="t", summary="s"
)


def subject(cause: str) -> Subject:
    """What is wrong with the pipeline."""
    return Subject(
        key=f"demo/{cause}/1",
        cluster="demo",
        group_id=None,
        cause=cause,
        severity=Severity.WARNING,
        owner=None,
        began_at=FIRST,
    )


def test_unsent_alerts_are_counted_but_for_those_about_unsent_alerts(history: History) -> None:
    """How many, for which channels, and the error of the oldest that failed."""
    for key, channel in (("a", "#team"), ("b", "#kafka"), ("c", "#team"), ("d", "#kafka")):
        posting = Posting(key=key, channel=channel, message=MESSAGE)
        history.enqueue_alert(posting, cluster="demo")
    for cause, channel in (("alerts unsent", "#x"), ("advice stuck", "#y")):
        message = replace(MESSAGE, subject=subject(cause))
        posting = Posting(key=cause, channel=channel, message=message)
        history.enqueue_alert(posting, cluster="demo")
    waiting = {alert.key: alert for alert in history.pending_alerts()}
    for key in "cb":
        history.mark_alert_failed(waiting[key], f"no {key}")
    (facts,) = history.cluster_facts(["demo"])
    assert (facts.unsent, facts.unsent_channels) == (5, ("#kafka", "#team", "#y"))
    assert facts.unsent_error == "no b"
    created = [alert.created_at for key, alert in waiting.items() if key in "abcd"]
    assert facts.oldest_unsent_at is not None
    assert facts.oldest_unsent_at <= min(created)


def test_a_lock_is_held_by_one_at_a_time(history: History) -> None:
    """A second holder is turned away until the first lets go, also when it fails; another name is free."""

    def fail() -> None:
        with history.lock("take_snapshot of demo"):
            with pytest.raises(ClusterBusy, match="take_snapshot of demo is still running"):
                history.lock("take_snapshot of demo").__enter__()
            with history.lock("take_snapshot of eu"):
                raise KeyError

    with pytest.raises(KeyError):
        fail()
    with history.lock("take_snapshot of demo"), history.lock("take_snapshot of eu"):
        pass


def test_only_a_known_question_is_answered(history: History) -> None:
    """By its name and its parameters; without rows the answer is empty."""
    assert history.query("groups") == []
    assert history.query("lag_history", group="g", hours=3) == []
    with pytest.raises(InputError, match=r"no query 'lags'.*lag_history"):
        history.query("lags")
    with pytest.raises(InputError, match="lag_history needs group"):
        history.query("lag_history")
    with pytest.raises(InputError, match=r"groups has no clutser\."):
        history.query("groups", clutser="demo")


def test_members_are_told_with_all_of_their_group(history: History) -> None:
    """Of the newest measured and the newest advised snapshot of a cluster, and of no group that is not asked about."""
    _, advised, other = (
        fill(history, n, name) for n, name in ((0, "demo"), (1, "demo"), (0, "eu"))
    )
    later = manifest(2)
    history.store_snapshot(later)
    history.store_metrics(later.snapshot_id, metrics(later.snapshot_id, {"orders-app": [1]}))
    told = history.members_of_groups_with(["orders-app-1"])
    snapshots = [advised, later.snapshot_id, other]
    assert [(one.snapshot_id, one.group_id) for one in told] == [
        (s, "orders-app") for s in snapshots
    ]
    assert (told[0].member_id, told[0].client_host) == ("orders-app-1", "h")
    assert history.members_of_groups_with(["nobody"]) == history.members_of_groups_with([]) == []
