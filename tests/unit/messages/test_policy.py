"""What is news, and which incidents open, stay and close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.incidents.lifecycle import stepped
from evenkeel.engine.incidents.policy import deaf_to, findings, pipeline_judgment
from evenkeel.engine.messages.advice_news import new_advice
from evenkeel.engine.messages.outbox import deliver
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.message import Announcement, NewsKind
from evenkeel.engine.model.states import Diagnosis, IncidentKind, IncidentState, TroubleKind
from evenkeel.engine.model.text import one_line
from evenkeel.engine.ports import ClusterFacts, FailingStep, IncidentWatch, ScoredAdvice
from evenkeel.engine.records import CauseSpan, IncidentCourse
from tests.helpers.incidents import posting
from tests.helpers.memory import MemoryHistory, MemoryNotifier
from tests.helpers.outbox import CLUSTER, NOW, advice, forecast, group_metrics

LATE_AFTER = timedelta(minutes=15)
WELL = ClusterFacts(
    cluster=CLUSTER,
    watched_since=NOW - timedelta(days=1),
    newest_snapshot_id="test-1",
    newest_finished_at=NOW - timedelta(minutes=4),
    whole_snapshots=2,
)


DAY = timedelta(days=1)


def told(
    kind: str | None,
    strategy: str = "sticky",
    diagnosis: Diagnosis | None = Diagnosis.SKEWED_LOAD,
    at: datetime = NOW - 2 * DAY,
) -> dict[str, Announcement]:
    """What the group `g` was told last, of a strategy, on a diagnosis."""
    if kind is None:
        return {}
    known = Announcement(
        group_id="g", kind=NewsKind(kind), strategy=strategy, at=at, diagnosis=diagnosis
    )
    return {"g": known}


def news(row: ScoredAdvice, before: dict[str, Announcement]) -> list[tuple[str, str]]:
    """Kind and strategy of what is told of an advice, one message a day."""
    return [(n.kind, n.strategy) for n in new_advice([row], before, NOW, lambda _: DAY)]


STATES = ["proposed", "confirmed", "withdrawn", "adopted", "verified", "missed", "expired"]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (None, {"confirmed": "switch"}),
        (
            "switch",
            {s: s for s in ("withdrawn", "adopted", "verified", "missed")},
        ),
        ("withdrawn", {"confirmed": "switch"}),
        ("adopted", {"confirmed": "switch", "verified": "verified", "missed": "missed"}),
        ("verified", {"confirmed": "switch", "missed": "missed"}),
        ("missed", {"confirmed": "switch"}),
    ],
)
def test_the_state_of_an_advice_is_told_where_it_is_news(
    before: str | None, expected: dict[str, str]
) -> None:
    """A switch first, what follows only after it, nothing twice; what is proposed or expired never."""
    last = told(before, at=NOW - timedelta(minutes=50))
    found = {state: _news_at_once(advice("g", state), last) for state in STATES}

    assert {state: kind for state, [(kind, _)] in ((s, n) for s, n in found.items() if n)} == (
        expected
    )


def _news_at_once(row: ScoredAdvice, before: dict[str, Announcement]) -> list[tuple[str, str]]:
    """The same without a pause."""
    return [(n.kind, n.strategy) for n in new_advice([row], before, NOW, lambda _: timedelta())]


def test_what_was_verified_is_missed_only_if_it_is_still_the_same() -> None:
    """A switch that was never told, taken up later and missed, is not what was told to be verified."""
    assert news(advice("g", "missed"), told("verified", at=NOW - 2 * DAY)) == []


def test_another_strategy_is_another_switch() -> None:
    """Who was told of one strategy is told of the next; the same one is not told twice."""
    assert news(advice("g"), told("switch", "range")) == [("switch", "sticky")]
    assert news(advice("g"), told("switch", "sticky")) == []


def test_what_follows_a_switch_that_was_not_told_is_not_told() -> None:
    """A group that took up what was never told to it did so of its own."""
    assert news(advice("g", "adopted", "fair"), told("switch", "sticky")) == []
    assert news(advice("g", "verified", "fair"), told("adopted", "sticky")) == []


def test_nothing_is_told_of_a_group_that_cannot_be_judged_now() -> None:
    """Its advice stands, but there is nothing to tell what to do."""
    row = advice("g", verdict=Verdict.NOT_EVALUATED, strategy=None)

    assert news(replace(row, strategy=None), {}) == []


def test_one_message_a_day() -> None:
    """What comes sooner waits; when the day is over, the state as it is then is told."""
    lately = told("switch", at=NOW - DAY + timedelta(seconds=1))

    assert news(advice("g", "withdrawn"), lately) == []
    assert news(advice("g", "withdrawn"), told("switch", at=NOW - DAY)) == [("withdrawn", "sticky")]


def test_another_switch_after_one_that_did_harm_does_not_wait() -> None:
    """The way back: each hour of waiting costs more."""
    lately = NOW - timedelta(minutes=5)

    assert news(advice("g"), told("missed", "range", at=lately)) == [("switch", "sticky")]
    assert news(advice("g"), told("verified", "range", at=lately)) == []


def test_a_switch_that_ended_before_it_could_be_told_is_never_told() -> None:
    """Neither it nor its end."""
    lately = told("verified", "range", at=NOW - timedelta(hours=1))

    assert news(advice("g"), lately) == []
    assert news(advice("g", "withdrawn"), told("verified", "range")) == []


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("skewed load", "catching up", True),
        ("skewed load", "skewed load", False),
        ("skewed load", "unknown", False),
        ("skewed load", "rebalancing", False),
        ("skewed load", None, False),
        (None, "skewed load", False),
    ],
)
def test_another_diagnosis_does_not_wait(
    before: str | None, now: str | None, expected: bool
) -> None:
    """Unless it is not known, or passes, or it is not known on which one the last message was."""
    last = told("switch", diagnosis=before and Diagnosis(before), at=NOW - timedelta(minutes=5))
    metrics = group_metrics("g", diagnosis=now and Diagnosis(now))

    assert bool(news(advice("g", "withdrawn", metrics=metrics), last)) is expected


def test_news_come_worst_first() -> None:
    """Switches lead, the largest lag ahead first, unknown ones last; names break ties."""
    rows = [
        advice("g", "withdrawn"),
        advice("unknown", live_forecast=None),
        advice("b", live_forecast=forecast(5)),
        advice("a", live_forecast=forecast(5)),
        advice("worst", live_forecast=forecast(50)),
    ]
    ordered = new_advice(rows, told("switch"), NOW, lambda _: DAY)

    assert [n.group_id for n in ordered] == ["worst", "a", "b", "unknown", "g"]


def failing(
    step: str,
    minutes: float = 6,
    *,
    skipped: bool = False,
    runs: int = 2,
    error: str = "No broker answered.",
) -> FailingStep:
    """A step that has failed for some minutes, in so many runs."""
    since = NOW - timedelta(minutes=minutes)
    return FailingStep(
        step=step,
        failures=2,
        failing_since=since,
        last_failed_at=NOW,
        error=error,
        skipped=skipped,
        runs=runs,
    )


def undelivered() -> str:
    """What a step says that could not deliver."""
    history, dead = MemoryHistory(), NotifierError("Slack did not answer.")
    history.enqueue_alert(posting(), cluster=CLUSTER)
    with pytest.raises(NotifierError) as raised:
        deliver(history, MemoryNotifier({posting().channel: dead}), Settings())
    return one_line(raised.value)


WAITING = {"unsent": 1, "oldest_unsent_at": NOW - timedelta(minutes=6)}


def found(**more: Any) -> list[TroubleKind]:
    """The kinds of what is wrong when these facts differ from a well cluster's."""
    return [f.kind for f in findings(replace(WELL, **more), LATE_AFTER, NOW)]


def ago(minutes: float) -> datetime:
    """That many minutes before now."""
    return NOW - timedelta(minutes=minutes)


def test_a_well_cluster_has_no_findings() -> None:
    """Nothing is wrong with a fresh, advised, told snapshot."""
    assert found() == []


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"failing": (failing("take_snapshot", 0.1),)}, [IncidentKind.UNREACHABLE]),
        ({"failing": (failing("take_snapshot", 15, runs=1),)}, []),
        ({"failing": (failing("take_snapshot", 15.1, runs=1),)}, [IncidentKind.UNREACHABLE]),
        ({"failing": (failing("take_snapshot", skipped=True),)}, []),
        ({"newest_finished_at": ago(15)}, []),
        ({"newest_finished_at": ago(15.1)}, [IncidentKind.STALE]),
        ({"newest_finished_at": None, "watched_since": ago(15.1)}, [IncidentKind.STALE]),
        ({"newest_finished_at": None, "watched_since": ago(1)}, []),
        ({"newest_finished_at": None, "watched_since": None}, []),
        ({"rejected_at": ago(4), "rejected_snapshot_id": "test-1"}, [IncidentKind.REJECTED]),
        ({"oldest_unadvised_at": ago(15.1), "unadvised": 3}, [IncidentKind.STUCK]),
        ({"oldest_unadvised_at": ago(4), "unadvised": 1}, []),
        ({"failing": (failing("advise"),)}, [IncidentKind.STEP_FAILED]),
        ({"failing": (failing("advise", 4),)}, []),
        ({"failing": (failing("alert"),)}, [IncidentKind.STEP_FAILED]),
        ({"failing": (failing("watch_groups"),), **WAITING}, [IncidentKind.STEP_FAILED]),
        ({"failing": (failing("alert", error=undelivered()),), **WAITING}, []),
        ({"failing": (failing("watch", runs=1),)}, []),
        ({"failing": (failing("watch", 15.1, runs=1),)}, [IncidentKind.STEP_FAILED]),
        ({"unsent": 1, "oldest_unsent_at": ago(15.1)}, [IncidentKind.UNSENT]),
    ],
    ids=[
        "unreachable in two runs",
        "two tries of one run",
        "one run for too long",
        "skipped because one still runs",
        "exactly on time",
        "late",
        "never read",
        "never read, just installed",
        "no trace of anything",
        "rejected",
        "stuck",
        "advice under way",
        "a step fails",
        "a step may still repair itself",
        "telling fails for its own reasons",
        "telling fails for its own reasons while alerts wait",
        "telling fails because alerts wait",
        "telling failed once, and another step has told it since",
        "telling failed once and was not tried again",
        "alerts unsent",
    ],
)
def test_findings(facts: dict[str, Any], expected: list[IncidentKind]) -> None:
    """Each trouble is found by its own facts, and only once it is one."""
    assert found(**facts) == expected


def opened(*kinds: str) -> list[IncidentCourse]:
    """Incidents that are open since a while, and told."""
    spans = {
        kind: CauseSpan(
            cause=IncidentKind(kind),
            since=ago(30),
            last_seen_at=ago(4),
            snapshots=1,
            amount=None,
            known={"since": ago(30).isoformat()},
        )
        for kind in kinds
    }
    return [
        IncidentCourse(
            key=f"{CLUSTER}/{kind}/then",
            group_id=None,
            state=IncidentState.OPEN,
            cause=span.cause,
            causes=(span,),
            began_at=ago(30),
            began_snapshot_id="then",
            good_snapshot_id=None,
            opened_at=ago(29),
        )
        for kind, span in spans.items()
    ]


def look(
    facts: ClusterFacts, known: Sequence[IncidentCourse] = (), now: datetime = NOW
) -> dict[str, IncidentCourse]:
    """What is remembered after a look, by kind."""
    kinds = [each.name for each in known]
    judgment = pipeline_judgment(facts, kinds, LATE_AFTER, now)
    before = IncidentWatch(cluster=CLUSTER, snapshot_id="then", courses=tuple(known))
    return stepped(before, judgment, Settings())


def states(courses: Mapping[str, IncidentCourse]) -> dict[str, str]:
    """How far each has come."""
    return {name: course.state.value for name, course in courses.items()}


DOWN = replace(WELL, failing=(failing("take_snapshot"),))


def test_an_incident_opens_stays_and_closes() -> None:
    """What is found is open at once, with its beginning; what is no longer found is over, and then forgotten."""
    first = look(DOWN)
    assert states(first) == {"cluster unreachable": "open"}
    [course] = first.values()
    assert (course.began_at, course.opened_at) == (ago(6), NOW)
    later = NOW + timedelta(minutes=3)
    [still] = look(DOWN, [course], later).values()
    assert (still.key, still.opened_at, still.causes[0].last_seen_at) == (course.key, NOW, later)
    [over] = look(WELL, [course], later).values()
    assert (over.state, over.closed_at) == (IncidentState.RESOLVED, later)
    assert look(WELL, [over], later) == {}


def test_partial_snapshots_are_told_after_two_and_over_after_two_whole_ones() -> None:
    """One partial snapshot is none, and one whole snapshot between is no end."""
    problems = tuple(f"broker {n} did not answer" for n in range(7))
    one = replace(WELL, partial_snapshots=1, partial_since=ago(4), whole_snapshots=1)
    assert look(one) == {}
    two = replace(one, partial_snapshots=2, whole_snapshots=0, partial_problems=problems)
    [course] = look(two).values()
    known = course.causes[0].known
    assert course.cause is IncidentKind.PARTIAL
    assert (known["problems"], known["left_out"]) == (list(problems[:5]), 2)
    again = replace(WELL, partial_snapshots=0, partial_since=None, whole_snapshots=1)
    assert states(look(again, [course])) == {"snapshots partial": "open"}
    assert states(look(WELL, [course])) == {"snapshots partial": "resolved"}


def test_an_unreachable_cluster_is_not_also_told_late() -> None:
    """One trouble is told once, by its cause; lateness that was already told stays open until it ends."""
    down = replace(DOWN, newest_finished_at=ago(60))
    assert states(look(down)) == {"cluster unreachable": "open"}
    late = look(down, opened("snapshot stale"))
    assert states(late) == {"cluster unreachable": "open", "snapshot stale": "open"}


def test_groups_that_nobody_looks_at_are_told() -> None:
    """A task that is killed notes nothing; one that notes its failure is told by that."""
    dead = replace(WELL, unwatched_since=ago(16))
    [told] = findings(dead, LATE_AFTER, NOW)
    assert (told.kind, told.since) == (IncidentKind.UNWATCHED, ago(16))
    assert findings(replace(dead, unwatched_since=ago(15)), LATE_AFTER, NOW) == []
    failed = findings(replace(dead, failing=(failing("watch_groups"),)), LATE_AFTER, NOW)
    assert IncidentKind.UNWATCHED not in [each.kind for each in failed]


def test_a_run_that_is_skipped_proves_no_cluster_reachable() -> None:
    """What is open stays open, alone, until a snapshot is taken, however long that takes."""
    step = replace(failing("take_snapshot"), skipped=True)
    busy = replace(WELL, failing=(step,), newest_finished_at=ago(60))
    known = opened("cluster unreachable")
    for days in (0, 40):
        now = NOW + timedelta(days=days)
        assert states(look(busy, known, now)) == {"cluster unreachable": "open"}
    assert states(look(WELL, known)) == {"cluster unreachable": "resolved"}
    # of a cluster that was not called unreachable it says nothing
    assert states(look(busy)) == {"snapshot stale": "open"}


@pytest.mark.parametrize("minutes", [0, 15])
def test_what_waited_for_the_end_of_an_outage_is_told_when_it_waits_on(minutes: float) -> None:
    """The first runs after it put it right; what was open before stays open."""
    facts = replace(
        WELL,
        newest_finished_at=NOW - timedelta(minutes=20),
        oldest_unadvised_at=NOW - timedelta(minutes=20),
        oldest_unsent_at=NOW - timedelta(minutes=20),
        unsent=1,
        outage_until=NOW,
    )
    now = NOW + timedelta(minutes=minutes)
    assert look(facts, now=now) == {}
    assert bool(look(facts, now=now + timedelta(seconds=1))) is (minutes == 15)
    assert states(look(facts, opened("snapshot stale"), now)) == {"snapshot stale": "open"}


def test_a_dead_channel_is_not_asked_to_tell_of_its_own_death() -> None:
    """Unsent alerts are told at once elsewhere, and in the channel itself only once it works again."""
    facts = replace(WELL, unsent=1, oldest_unsent_at=ago(60), unsent_channels=("#team",))
    [course] = look(facts).values()
    assert list(deaf_to(course)) == ["#team"]
    assert not deaf_to(opened("snapshot stale")[0])
