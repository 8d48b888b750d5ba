"""The messages about the pipeline in odd circumstances; the usual ones are in the file of all messages."""

from __future__ import annotations

from typing import Any

from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import message_of
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.model.states import IncidentKind
from tests.helpers.golden_messages import PIPELINES, SINCE, pipeline_incident


def opened(kind: IncidentKind, **known: Any) -> AlertMessage:
    """What is said when it opens, of which this is known besides."""
    return message_of(pipeline_incident(kind, {**PIPELINES[kind], **known}), EventKind.OPENED)


def test_a_failed_step_is_linked() -> None:
    """The message leads to the task that failed last, where one is known."""
    unreachable = opened(IncidentKind.UNREACHABLE)
    assert unreachable.link == PIPELINES[IncidentKind.UNREACHABLE]["link"]
    assert opened(IncidentKind.STUCK).link is None
    assert opened(IncidentKind.UNREACHABLE, link="/dags/d/runs/r/tasks/t").link is None


def test_a_cluster_that_was_never_read_is_called_so() -> None:
    """Without any snapshot there is no newest one to speak of."""
    known = {"newest_finished_at": None, "newest_snapshot_id": None}
    text = plain_text(opened(IncidentKind.STALE, **known))
    assert "test was never read" in text
    assert "None" not in text


def test_every_failing_step_is_named() -> None:
    """Several failing steps are one incident that lists each with its error."""
    steps = [
        {"step": name, "failures": 1, "since": SINCE, "error": f"{name} broke"}
        for name in ("advise", "maintain")
    ]
    text = plain_text(opened(IncidentKind.STEP_FAILED, steps=steps))
    assert "Step advise of test" in text
    assert "Step maintain of test" in text
    assert "Maintain broke." in text


def test_an_endless_error_is_cut() -> None:
    """A driver's long text does not drown the message."""
    assert len(plain_text(opened(IncidentKind.UNREACHABLE, error="x" * 5_000))) < 2_000
