"""What is news, and which incidents open, stay and close."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.engine.alerting.policy import (
    IncidentKind,
    NewsKind,
    can_be_told,
    changes,
    findings,
    new_advice,
)
from evenkeel.engine.message import Announcement
from evenkeel.engine.ports import ClusterFacts, FailingStep, ScoredAdvice
from evenkeel.engine.records import IncidentRow
from tests.helpers.outbox import CLUSTER, NOW, advice, score

LATE_AFTER = timedelta(minutes=15)
WELL = ClusterFacts(
    cluster=CLUSTER,
    watched_since=NOW - timedelta(days=1),
    newest_snapshot_id="test-1",
    newest_finished_at=NOW - timedelta(minutes=4),
)


def told(group: str, strategy: str | None) -> dict[str, Announcement]:
    """What one group was told last: a switch, or with None that one was withdrawn."""
    verdict = "switch" if strategy else "stay"
    return {group: Announcement(group_id=group, verdict=verdict, strategy=strategy)}


@pytest.mark.parametrize(
    ("row", "before", "expected"),
    [
        (advice("g"), {}, NewsKind.SWITCH),
        (advice("g"), told("g", "sticky"), None),
        (advice("g", reason="another reason", seen=9), told("g", "sticky"), None),
        (advice("g"), told("g", "range"), NewsKind.SWITCH),
        (advice("g"), told("g", None), NewsKind.SWITCH),
        (advice("g", "stay"), {}, None),
        (advice("g", "stay"), told("g", None), None),
        (advice("g", "stay"), told("g", "sticky"), NewsKind.WITHDRAWN),
        (advice("g", "stay"), told("g", "range"), NewsKind.TAKEN_UP),
        (replace(advice("g", "stay"), strategy="fair", seen=1), told("g", "sticky"), None),
        (advice("g", "not judged"), told("g", "sticky"), None),
    ],
    ids=[
        "first switch",
        "same switch again",
        "same switch, other reason",
        "other strategy",
        "after a withdrawal",
        "stay, nothing told",
        "stay, already withdrawn",
        "stay after a switch",
        "stay because it runs the strategy",
        "another strategy awaits confirmation",
        "not judged",
    ],
)
def test_advice_is_news_when_it_differs_from_what_was_told(
    row: ScoredAdvice, before: dict[str, Announcement], expected: NewsKind | None
) -> None:
    """Only a new strategy, or the end of a told one, is news."""
    assert [n.outcome for n in new_advice([row], before)] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        ({"min_traffic": True}, NewsKind.TAKEN_UP),
        ({"min_traffic": False}, NewsKind.WITHDRAWN),
        ({"min_traffic": None}, NewsKind.ENDED),
        ({"none": True}, NewsKind.ENDED),
        ({}, NewsKind.ENDED),
    ],
)
def test_advice_ends_by_what_is_known_to_run(
    running: dict[str, bool | None], expected: NewsKind
) -> None:
    """What runs by our names says it was taken up or not; where that is not known, neither is claimed."""
    row = advice("g", "stay", running=running)

    assert [one.outcome for one in new_advice([row], told("g", "min_traffic"))] == [expected]


def test_news_come_worst_first() -> None:
    """The largest member lag leads, unknown lag follows, ends of advice come last, names break ties."""
    rows = [
        advice("end", "stay"),
        advice("unknown", live=score()),
        advice("b", live=score(largest_member_lag=5)),
        advice("a", live=score(largest_member_lag=5)),
        advice("worst", live=score(largest_member_lag=50)),
    ]
    assert [n.group_id for n in new_advice(rows, told("end", "sticky"))] == [
        "worst",
        "a",
        "b",
        "unknown",
        "end",
    ]


def failing(step: str, minutes: float = 6, *, skipped: bool = False) -> FailingStep:
    """A step that has failed for some minutes."""
    since = NOW - timedelta(minutes=minutes)
    return FailingStep(
        step=step,
        failures=2,
        failing_since=since,
        last_failed_at=NOW,
        error="No broker answered.",
        skipped=skipped,
    )


def found(**more: Any) -> list[IncidentKind]:
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
        ({"failing": (failing("take_snapshot", skipped=True),)}, []),
        ({"newest_finished_at": ago(15)}, []),
        ({"newest_finished_at": ago(15.1)}, [IncidentKind.LATE]),
        ({"newest_finished_at": None, "watched_since": ago(15.1)}, [IncidentKind.LATE]),
        ({"newest_finished_at": None, "watched_since": ago(1)}, []),
        ({"newest_finished_at": None, "watched_since": None}, []),
        ({"rejected_at": ago(4), "rejected_snapshot_id": "test-1"}, [IncidentKind.REJECTED]),
        ({"oldest_unadvised_at": ago(15.1), "unadvised": 3}, [IncidentKind.STUCK]),
        ({"oldest_unadvised_at": ago(4), "unadvised": 1}, []),
        ({"failing": (failing("advise"),)}, [IncidentKind.STEP_FAILED]),
        ({"failing": (failing("advise", 4),)}, []),
        ({"failing": (failing("alert"),)}, [IncidentKind.STEP_FAILED]),
        ({"failing": (failing("alert"),), "unsent": 1, "oldest_unsent_at": ago(6)}, []),
        ({"unsent": 1, "oldest_unsent_at": ago(15.1)}, [IncidentKind.UNSENT]),
    ],
    ids=[
        "unreachable at once",
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
        "telling fails because alerts wait",
        "alerts unsent",
    ],
)
def test_findings(facts: dict[str, Any], expected: list[IncidentKind]) -> None:
    """Each trouble is found by its own facts, and only once it is one."""
    assert found(**facts) == expected


def incident(kind: str, cluster: str = CLUSTER, number: int = 1) -> IncidentRow:
    """An open incident."""
    return IncidentRow(
        incident_id=number,
        cluster=cluster,
        group_id=None,
        kind=kind,
        severity="warning",
        opened_at=NOW,
        last_seen_at=NOW,
        facts={},
    )


def test_an_incident_opens_stays_and_closes() -> None:
    """What is found anew opens, what is still found stays, what is no longer found closes."""
    down = replace(WELL, failing=(failing("take_snapshot"),))
    known = [incident("cluster unreachable")]
    first = changes([down], [], LATE_AFTER, NOW)
    assert [f.kind for f in first.opened] == [IncidentKind.UNREACHABLE]
    still = changes([down], known, LATE_AFTER, NOW)
    assert (still.opened, len(still.kept), still.closed) == ((), 1, ())
    over = changes([WELL], known, LATE_AFTER, NOW)
    assert (over.opened, over.kept, list(over.closed)) == ((), (), known)


def test_an_unreachable_cluster_is_not_also_told_late() -> None:
    """One trouble is told once, by its cause; lateness that was already told stays open until it ends."""
    down = replace(WELL, failing=(failing("take_snapshot"),), newest_finished_at=ago(60))
    assert [f.kind for f in changes([down], [], LATE_AFTER, NOW).opened] == [
        IncidentKind.UNREACHABLE
    ]
    late = changes([down], [incident("snapshot late")], LATE_AFTER, NOW)
    assert [one.kind for one, _ in late.kept] == ["snapshot late"]


def test_one_cluster_does_not_speak_for_another() -> None:
    """The same trouble in two clusters is two incidents."""
    other = replace(WELL, cluster="other", failing=(failing("take_snapshot"),))
    found_now = changes([WELL, other], [incident("cluster unreachable")], LATE_AFTER, NOW)
    assert [f.cluster for f in found_now.opened] == ["other"]
    assert [one.cluster for one in found_now.closed] == [CLUSTER]


def test_an_incident_of_a_cluster_that_is_no_longer_configured_closes() -> None:
    """Nobody watches it, so nothing of it stays open."""
    gone = incident("snapshot late", cluster="gone")
    assert list(changes([WELL], [gone], LATE_AFTER, NOW).closed) == [gone]


def test_an_incident_of_a_foreign_kind_is_left_alone() -> None:
    """What this module does not judge it does not close."""
    foreign = incident("group stalled")
    result = changes([WELL], [foreign], LATE_AFTER, NOW)
    assert (result.kept, result.closed) == ((), ())


def test_a_dead_channel_is_not_asked_to_tell_of_its_own_death() -> None:
    """Unsent alerts are told at once elsewhere, and in the channel itself only once it works again."""
    facts = replace(WELL, unsent=1, oldest_unsent_at=ago(60), unsent_channels=("#team",))
    [finding] = findings(facts, LATE_AFTER, NOW)
    assert can_be_told(finding, "#kafka")
    assert not can_be_told(finding, "#team")
