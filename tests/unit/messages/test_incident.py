"""The messages about the pipeline: what, how bad, since when, what to do, and the end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import Incident, message_of
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.messages.wording.incidents import called
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity
from evenkeel.engine.model.states import IncidentKind
from tests.helpers.golden_messages import pipeline_incident
from tests.helpers.outbox import NOW

SINCE = (NOW - timedelta(minutes=25)).isoformat()

FACTS: dict[IncidentKind, dict[str, Any]] = {
    IncidentKind.UNREACHABLE: {
        "since": SINCE,
        "failures": 5,
        "runs": 3,
        "link": "https://airflow.example/dags/snapshot_offsets/runs/r/tasks/take_snapshot",
        "newest_finished_at": (NOW - timedelta(minutes=30)).isoformat(),
        "error": "No broker of b1:9092 answered. Check the address.",
    },
    IncidentKind.STALE: {
        "since": SINCE,
        "stale_after_seconds": 900.0,
        "newest_finished_at": SINCE,
        "newest_snapshot_id": "test-1",
    },
    IncidentKind.PARTIAL: {
        "since": SINCE,
        "snapshot_id": "test-2",
        "snapshots": 2,
        "problems": ["broker 2 did not answer"],
        "left_out": 3,
    },
    IncidentKind.REJECTED: {"since": SINCE, "snapshot_id": "test-1", "error": "no brokers"},
    IncidentKind.UNWATCHED: {"since": SINCE, "snapshot_id": "test-1"},
    IncidentKind.STUCK: {"since": SINCE, "snapshot_id": "test-1", "snapshots": 3},
    IncidentKind.STEP_FAILED: {
        "since": SINCE,
        "steps": [{"step": "advise", "failures": 4, "since": SINCE, "error": "disk full"}],
    },
    IncidentKind.HISTORY_AWAY: {"since": SINCE, "error": "no", "hit": ["advise"], "runs": 2},
    IncidentKind.CONFIG_REFUSED: {"since": SINCE, "error": "no", "hit": ["watch"], "runs": 1},
    IncidentKind.UNSENT: {
        "since": SINCE,
        "alerts": 2,
        "channels": ["#team"],
        "error": "channel_not_found",
    },
}


def incident(kind: IncidentKind, facts: dict[str, Any] | None = None) -> Incident:
    """An incident that was opened now."""
    return pipeline_incident(kind, FACTS[kind] if facts is None else facts)


def opening_message(told: Incident) -> AlertMessage:
    """What is said when it opens."""
    return message_of(told, EventKind.OPENED)


def closing_message(told: Incident, ended: datetime) -> AlertMessage:
    """What is said when it is over."""
    return message_of(replace(told, at=ended), EventKind.RESOLVED)


@pytest.mark.parametrize("kind", list(IncidentKind))
def test_every_kind_says_what_since_when_and_what_to_do(kind: IncidentKind) -> None:
    """An opening names the cluster, the beginning with its length, the effect and a way out."""
    message = opening_message(incident(kind))
    text = plain_text(message)
    assert message.kind is MessageKind.INCIDENT_OPENED
    assert message.title.startswith("test: ")
    assert message.action
    assert message.sections[-1].code[0].startswith("evenkeel ")
    assert len(message.title) <= 80
    lines = text.splitlines()
    assert len({line for line in lines if line}) == len([line for line in lines if line])
    assert all(line for section in message.sections for line in section.lines)
    if kind is not IncidentKind.REJECTED:
        assert "since 2026-03-01 08:35 UTC (25 min)" in text


@pytest.mark.parametrize("kind", list(IncidentKind))
def test_every_kind_says_that_it_is_over_and_how_long_it_was(kind: IncidentKind) -> None:
    """An end counts from the beginning of the trouble, not from when it was noticed."""
    message = closing_message(incident(kind), NOW + timedelta(minutes=5))
    assert (message.kind, message.severity) == (MessageKind.INCIDENT_CLOSED, Severity.RESOLVED)
    assert message.at == NOW + timedelta(minutes=5)
    assert message.title == f"test: resolved, {called(kind)} for 30 min"
    assert message.sections[0] == Section(
        heading="When", lines=("2026-03-01 08:35 UTC to 2026-03-01 09:05 UTC",)
    )


def test_an_unreachable_cluster_quotes_the_error_and_counts_the_attempts() -> None:
    """The reader sees what the last attempt said and how many there were."""
    text = plain_text(opening_message(incident(IncidentKind.UNREACHABLE)))
    assert "5 attempts in a row, of 3 runs" in text
    assert "No broker of b1:9092 answered. Check the address." in text
    assert "Last complete snapshot: 2026-03-01 08:30 UTC." in text
    assert "evenkeel doctor" in text


def test_a_partial_snapshot_says_what_could_not_be_read() -> None:
    """What is listed, and how much more there is."""
    text = plain_text(opening_message(incident(IncidentKind.PARTIAL)))
    assert "Broker 2 did not answer." in text
    assert "And 3 more problems." in text


def test_a_failed_step_is_linked() -> None:
    """The message leads to the task that failed last, where one is known."""
    unreachable = opening_message(incident(IncidentKind.UNREACHABLE))
    assert unreachable.link == FACTS[IncidentKind.UNREACHABLE]["link"]
    assert opening_message(incident(IncidentKind.STUCK)).link is None
    facts = FACTS[IncidentKind.UNREACHABLE] | {"link": "/dags/d/runs/r/tasks/t"}
    assert opening_message(incident(IncidentKind.UNREACHABLE, facts)).link is None


def test_a_cluster_that_was_never_read_is_called_so() -> None:
    """Without any snapshot there is no newest one to speak of."""
    facts = FACTS[IncidentKind.STALE] | {"newest_finished_at": None, "newest_snapshot_id": None}
    text = plain_text(opening_message(incident(IncidentKind.STALE, facts=facts)))
    assert "test was never read" in text
    assert "None" not in text


def test_every_failing_step_is_named() -> None:
    """Several failing steps are one incident that lists each with its error."""
    steps = [
        {"step": name, "failures": 1, "since": SINCE, "error": f"{name} broke"}
        for name in ("advise", "maintain")
    ]
    facts = FACTS[IncidentKind.STEP_FAILED] | {"steps": steps}
    text = plain_text(opening_message(incident(IncidentKind.STEP_FAILED, facts=facts)))
    assert "Step advise of test" in text
    assert "Step maintain of test" in text
    assert "Maintain broke." in text


def test_a_cluster_no_longer_configured_is_not_called_well() -> None:
    """Its incident ends because nobody watches, and the message says so."""
    message = closing_message(replace(incident(IncidentKind.STALE), unwatched=True), NOW)
    assert message.title == "test: no longer watched"
    assert "resolved" not in plain_text(message)


def test_an_endless_error_is_cut() -> None:
    """A driver's long text does not drown the message."""
    facts = FACTS[IncidentKind.UNREACHABLE] | {"error": "x" * 5_000}
    text = plain_text(opening_message(incident(IncidentKind.UNREACHABLE, facts=facts)))
    assert len(text) < 2_000
