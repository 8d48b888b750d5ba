"""What is kept of an outage while nothing can be noted."""

from __future__ import annotations

from datetime import timedelta

from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import IncidentKind
from evenkeel.engine.pipeline.outage import KEPT, Outage, noted
from evenkeel.engine.records import Outcome, StepRun, record_of, to_json

KIND = IncidentKind.HISTORY_AWAY


def run(outcome: str, link: str) -> StepRun:
    """A run of a step that took a second."""
    now = utc_now()
    return StepRun(
        cluster="eu",
        snapshot_id=None,
        step="take_snapshot",
        started_at=now,
        finished_at=now + timedelta(seconds=1),
        outcome=Outcome(outcome),
        link=link,
    )


def test_an_outage_begins_with_what_could_not_be_noted_and_links_what_failed() -> None:
    """A step that went well is the first that it hits, and nothing to look at."""
    good, bad, worse = run("ok", "/1"), run("failed", "/2"), run("failed", "/3")
    outage = noted(None, KIND, good, "no answer")
    assert outage.link is None
    outage = noted(noted(outage, KIND, bad, "no answer"), KIND, worse, "no answer")
    assert (outage.since, outage.link) == (good.started_at, "/2")
    assert record_of(Outage, to_json(outage)) == outage


def test_of_a_long_outage_the_first_runs_are_kept() -> None:
    """The others are counted."""
    outage = None
    for _ in range(KEPT + 3):
        outage = noted(outage, KIND, run("failed", "/1"), "no answer")
    assert outage is not None
    assert (len(outage.runs), outage.left_out) == (KEPT, 3)
