"""What is told of a cluster that is taken out of the configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.config import Rule, Settings, Webhook
from evenkeel.engine.messages import outbox_entries
from evenkeel.engine.messages.outbox_entries import last_postings
from evenkeel.engine.model.states import IncidentState
from evenkeel.engine.ports import IncidentWatch
from evenkeel.engine.records import IncidentCourse
from tests.helpers.incidents import CHANNEL, CLUSTER, at, course

PAGER = "webhook:oncall"


def watch(*courses: IncidentCourse) -> IncidentWatch:
    """Of a cluster that was looked at last after ten minutes."""
    return IncidentWatch(
        cluster=CLUSTER, snapshot_id="s10", at=at(10), first_at=at(-60), courses=courses
    )


def settings() -> Settings:
    """No cluster, an owner, a pager."""
    return Settings(
        rules=(Rule(owner="team orders"),), webhooks={"oncall": Webhook(format="pagerduty")}
    )


def told(*pagers: str, in_digest: bool = False, group: str = "orders-app") -> IncidentCourse:
    """An incident whose readers are these pagers, too."""
    known = course(group, minutes=10)
    assert known.readers is not None
    readers = replace(known.readers, pagers=pagers, in_digest=in_digest)
    return replace(known, readers=replace(readers, alert_key="digest d") if in_digest else readers)


def test_it_says_why_and_how_it_was_seen_last() -> None:
    """Not that it is over, nor that it lasted until now: nobody knows."""
    change, line = last_postings(watch(told()), settings(), at(60))
    assert change.message.title == "orders-app (demo): no longer watched"
    assert change.message.summary == (
        "The cluster is no longer configured."
        " Last seen 2026-03-01 12:10 UTC: 16 min behind, since 2026-03-01 12:00 UTC."
    )
    assert (change.message.at, change.message.snapshot_id) == (at(60), "s10")
    assert line.message.summary == "The cluster is no longer configured."
    assert (line.answers, line.broadcast) == (change.replaces, False)


def test_those_who_were_paged_hear_of_it() -> None:
    """As long as they are configured; what they get takes the place of the opening."""
    *_, page = last_postings(watch(told(PAGER, "webhook:gone")), settings(), at(60))
    assert (page.channel, page.message.subject and page.message.subject.owner) == (
        PAGER,
        "team orders",
    )
    assert page.key == "incident demo/orders-app/s0 resolved webhook:oncall"
    assert page.replaces == "incident demo/orders-app/s0 opened webhook:oncall"


def test_what_nobody_was_told_ends_without_a_word() -> None:
    """It was only suspected, or is over already."""
    suspected = course(state=IncidentState.SUSPECTED, opened_at=None, readers=None)
    over = replace(told(PAGER), state=IncidentState.RESOLVED, closed_at=at(10))
    assert last_postings(watch(suspected, over), settings(), at(60)) == ()


def test_a_digest_is_changed_and_answered_once() -> None:
    """With the names of those that were not over."""
    courses = [told(in_digest=True, group=f"app-{number}") for number in range(12)]
    change, line = last_postings(watch(*courses), settings(), at(60))
    assert (change.channel, change.replaces, line.answers) == (CHANNEL, "digest d", "digest d")
    assert change.message.title == "demo: no longer watched"
    [section] = change.message.sections
    assert section.lines[0].endswith("app-9 and 2 more")


def test_a_message_that_cannot_be_made_keeps_no_other_from_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and its group is forgotten like the others."""
    headline_of = outbox_entries.headline_of

    def failing(of: IncidentCourse) -> str:
        if of.group_id == "odd":
            raise ValueError("no words")
        return headline_of(of)

    monkeypatch.setattr(outbox_entries, "headline_of", failing)
    postings = last_postings(watch(told(group="odd"), told()), settings(), at(60))
    assert [posting.key.split("/")[1] for posting in postings] == ["orders-app"] * 2
    assert "the message about odd failed" in caplog.text
