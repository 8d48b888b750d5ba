"""The digest of a run: what a reader learns of each group, and what is cut."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.engine.messages.advice_news import News, new_advice
from evenkeel.engine.messages.digest import MOVES, WORST, advice_message, section, told_of
from evenkeel.engine.messages.length import plain_text, section_text
from evenkeel.engine.messages.wording import how
from evenkeel.engine.model.assignments import Move
from evenkeel.engine.model.facts import Fact, FactKind, reason, step
from evenkeel.engine.model.groups import Member
from evenkeel.engine.model.message import AlertMessage, Announcement, NewsKind
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import AdvisedSnapshot
from evenkeel.engine.records import AdviceCheck
from tests.helpers.outbox import CLUSTER, NOW, advice, check, forecast, group_metrics, score

SNAPSHOT = AdvisedSnapshot(
    snapshot_id="test-1",
    cluster=CLUSTER,
    started_at=NOW,
    finished_at=NOW,
    partial=False,
    problems=(),
    newest_advised_id="test-1",
    newest_started_at=NOW,
    verdicts={"switch": 1},
)


def digest(*found: News, moves: Any = None, **more: Any) -> AlertMessage:
    """The digest of some news."""
    its = {"verdicts": {"switch": len(found)}} | more.pop("snapshot", {})
    return advice_message(CLUSTER, replace(SNAPSHOT, **its), found, moves or {}, **more)[0]


def news(state: str = "confirmed", group: str = "payments", **row: Any) -> News:
    """News of an advice in a state, told to somebody who heard of the switch."""
    given = advice(group, state, **row)
    [found] = new_advice([given], {} if state == "confirmed" else told(group), NOW, daily)
    return found


def told(group: str, strategy: str = "sticky") -> dict[str, Announcement]:
    """That a group was advised to switch two days ago."""
    at = NOW - timedelta(days=2)
    return {
        group: Announcement(group_id=group, kind=NewsKind.SWITCH, strategy=strategy, at=at),
    }


def daily(_: str) -> timedelta:
    """One message a day."""
    return timedelta(days=1)


def text_of(found: News, owner: str | None = None) -> str:
    """What is said of one group among others."""
    return section_text(section(told_of(CLUSTER, found), owner))


def test_a_switch_says_what_comes_what_it_costs_how_and_how_sure() -> None:
    """A reader learns what would come, why, what to do, the cost, the certainty and one command."""
    assert (
        plain_text(digest(news()))
        == """\
[i] payments (test): switch range -> sticky, lag in 1 h 120k -> 300

Skewed load: c-0 gets 720 records/s and does 600 records/s. Set partition.assignment.strategy.

Cost: 6 restarts, ~3,600 records delayed, 4 of 12 partitions move
Confidence: would help in 7 snapshots since 2026-03-01 08:30 UTC · p10-p90 90k-150k -> 220-380 · all lags known
Next: evenkeel runbook --group payments --cluster test --strategy sticky

-- 1 group in the cluster: 1 switch"""
    )


def test_what_else_speaks_for_a_switch_is_told() -> None:
    """Of the reason all but the forecast, which has a line of its own; then what changes besides."""
    racks = Fact(kind=FactKind.GAIN, measure="unowned", before=1, after=0)
    live = score(cross_rack_share=0.5, partition_spread=1)
    proposed = score(cross_rack_share=0.25, partition_spread=2, moves=1)
    text = plain_text(digest(news(facts=(racks,), live=live, proposed=proposed)))

    assert "Effect: 1 unowned partition gets an owner\n" in text
    assert "Also: cross-rack share 50% -> 25% · partition spread 1 -> 2 (worse)\n" in text


def test_unknown_numbers_are_called_unknown() -> None:
    """An unknown measure is neither a gain nor a zero; what is unknown of its reason lowers the certainty aloud."""
    racks = Fact(kind=FactKind.GAIN, measure="cross_rack_share", before=0.5, after=0.1)
    row = {
        "live": score(),
        "proposed": score(racks_left_out=3),
        "metrics": group_metrics("payments", unknown_lag_partitions=2, partitions=None),
        "course": None,
        "seen": 1,
    }
    assert "racks of" not in plain_text(digest(news(**row)))
    text = plain_text(digest(news(**row, facts=(racks,))))
    assert "0 partitions move\n" in text
    assert "Confidence: would help in 1 snapshot · " in text
    assert " · lag of 2 partitions unknown · racks of 3 partitions unknown\n" in text
    assert "Also" not in text


def test_without_any_score_the_advice_is_still_told() -> None:
    """Candidates that are gone from the history leave the reason standing."""
    gone = {"live": None, "proposed": None, "live_forecast": None, "forecast": None}
    text = plain_text(digest(news(**gone, metrics=None, how=None, facts=None)))
    assert "] payments (test): switch to sticky\n" in text
    assert "No reason was stored. Switch to sticky.\n" in text
    assert "Effect: lag in an hour 120,000 -> 300 offsets\n" in text
    assert "Cost: number of moved partitions unknown\n" in text


@pytest.mark.parametrize(
    ("state", "came", "later", "expected"),
    [
        (
            "missed",
            0.83,
            (),
            "Reads across racks 83% as before (forecast at most 5%): forecast missed.",
        ),
        (
            "missed",
            0.0,
            (check(48_123),),
            "Reads across racks 0% (83% before)."
            " Lag after 1 h 48,000, forecast 300 (p10-p90 0-900).",
        ),
    ],
)
def test_what_became_of_racks_is_told_as_one_would_say_it(
    state: str, came: float, later: tuple[AdviceCheck, ...], expected: str
) -> None:
    """How much crosses now and before, and that this decided, where it did."""
    band = {"measure": "cross_rack_share", "unit": "share", "low": 0.0, "expected": 0.0}
    across = check(came, after_seconds=0, high=0.05, **band)
    found = news(state, checks=(across, *later))
    assert found.advice.course
    (uptake,) = found.advice.course.uptakes
    course = replace(found.advice.course, uptakes=(replace(uptake, crossed=0.83),))
    followed = told_of(CLUSTER, replace(found, advice=replace(found.advice, course=course)))

    assert followed.impact.startswith(f"{expected} Skewed load: ")


def test_what_is_the_matter_is_not_said_again_as_the_reason() -> None:
    """An advice that is withdrawn for what the group suffers from tells the names and numbers of that once."""
    skewed = Fact(
        kind=FactKind.DIAGNOSIS, measure="skewed_load", subjects=("c-0",), after=720.0, bound=600.0
    )
    why = reason("restarting_no_help", ["catching up"])

    assert text_of(news("withdrawn", facts=(why, skewed))).splitlines()[1:3] == [
        "  Skewed load: c-0 receives 720 records/s but can process 600 records/s, while others have capacity left."
        " Don't switch to sticky.",
        "  Why: catching up: a restart wouldn't help in time, or too little is known",
    ]


def test_the_worst_are_in_the_thread_in_full_and_the_rest_counted() -> None:
    """A long list is cut to the worst; the thread names the others, and all count as notified."""
    rows = [advice(f"g{n:03}", live_forecast=forecast(n)) for n in range(40)]
    found = new_advice(rows, {}, NOW, daily)
    message, more = advice_message(CLUSTER, SNAPSHOT, found, {})
    assert more is not None
    assert [s.lines[0].split(":")[0] for s in message.sections[:2]] == ["g039", "g038"]
    assert message.sections[-1].lines == ("and 35 more: 35 switch",)
    assert {known.group_id for known in message.announcements} == {row.group_id for row in rows}
    assert message.more == "All open switches: evenkeel query open_switches --param cluster=test"
    assert [s.heading.split(":")[0] for s in more.sections[:2]] == ["g039", "g038"]
    assert more.sections[-1].heading == f"and {40 - WORST} more groups"
    assert more.sections[-1].lines[0].startswith("g031 (switch sticky), ")
    assert (len(more.sections), more.announcements) == (WORST + 1, ())


def test_moves_are_listed_up_to_a_number() -> None:
    """Some moves are spelt out, the others counted; nobody's partition is nobody's."""
    moves = [
        Move(topic="orders", partition=n, from_member=None if n == 0 else "m1", to_member="m2")
        for n in range(MOVES)
    ]
    message = digest(news(proposed=score(moves=9, newly_owned=1)), moves={"payments": moves})
    text = plain_text(message)
    assert "\nMoves: orders-0: (none) -> m2 · orders-1: m1 -> m2 · " in text
    assert f" · orders-{MOVES - 1}: m1 -> m2 and 5 more\n" in text
    assert "9 of 12 partitions move, 1 unowned partition gets an owner\n" in text


def test_the_footer_says_how_whole_the_snapshot_is() -> None:
    """A partial snapshot is called so, with its problems."""
    message = digest(
        news(),
        snapshot={
            "partial": True,
            "problems": ["broker 3: timeout"],
            "verdicts": {"stay": 3, "switch": 1},
        },
    )
    assert "4 groups in the cluster: 3 stay, 1 switch" in message.footer
    assert message.snapshot_id == "test-1"
    assert "The snapshot is partial: broker 3: timeout." in message.footer


def test_what_was_told_is_what_the_next_run_compares_with() -> None:
    """Kind, strategy, when and on which diagnosis; an end with the strategy that ended."""
    message = digest(news(group="a"), news("withdrawn", "b"))

    assert message.announcements == tuple(
        Announcement(
            group_id=group, kind=kind, strategy="sticky", at=NOW, diagnosis=Diagnosis.SKEWED_LOAD
        )
        for group, kind in (("a", NewsKind.SWITCH), ("b", NewsKind.WITHDRAWN))
    )


def test_what_was_taken_for_unknown_is_told_with_the_advice() -> None:
    """Notes of the present and of the proposal stand in one line; without any there is none."""
    text = plain_text(digest(news(notes=("tags follow zone", "a rack"))))

    assert "Also: tags follow zone; a rack\n" in text
    assert "Also: " not in plain_text(digest(news()))


def test_moves_name_members_by_what_is_short_of_them() -> None:
    """Instance id, else client id, with the host where two share it: never the id that the coordinator made up."""
    long = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    members = (
        Member(id=f"a-{long}", client_id="a", host="/h1", instance_id="orders-0"),
        Member(id=f"b-{long}", client_id="b", host="/h1"),
        Member(id=f"b-1-{long}", client_id="b", host="/h2"),
    )
    one, two, three = (member.id for member in members)
    moves = [
        Move(topic="t", partition=n, from_member=old, to_member=new)
        for n, (old, new) in enumerate([(one, two), (two, three), (None, one)])
    ]
    message = digest(news(members=members), moves={"payments": moves})
    moved = "t-0: orders-0 -> b at h1 · t-1: b at h1 -> b at h2 · t-2: (none) -> orders-0"
    assert f"Moves: {moved} and 1 more\n" in plain_text(message)


def test_a_withdrawal_says_nothing_twice() -> None:
    """Where the diagnosis is all the reason there is, it is said once; where there is none, that is said."""
    only = (Fact(kind=FactKind.DIAGNOSIS, measure="unreadable", quote="no answer"),)
    metrics = group_metrics("payments", diagnosis=Diagnosis.UNKNOWN, diagnosis_reason="no answer")
    told = plain_text(digest(news("withdrawn", facts=only, reason="no answer", metrics=metrics)))
    assert told.count("no answer") == 1
    bare = news("withdrawn", facts=None, reason=None, metrics=None)
    assert plain_text(digest(bare)).count("No reason was stored.") == 1


def test_a_command_names_the_group_whatever_it_is_called() -> None:
    """Instructions hold the group's name; a shell takes it for one word."""
    odd = news(group="it's; $(x)", how=how([step("follow_plan", ["drain", "it's; $(x)"])]))
    text = plain_text(digest(odd))
    assert (
        f"evenkeel plan --group {shlex.quote(odd.group_id.replace(' ', '?'))} --strategy drain"
        in text
    )
    for group in (odd.group_id, "--help"):
        code = digest(news(group=group)).sections[-1].code[0]
        program, *arguments = shlex.split(code)
        named = group in arguments or f"--group={group}" in arguments
        assert (program, named) == ("evenkeel", True)
    hostile = digest(news(group="a`$(x)`b"))
    assert "`$(x)`" not in plain_text(replace(hostile, title=""))
    assert "a?$(x)?b" in shlex.split(hostile.sections[-1].code[0])


def test_no_line_of_a_message_comes_twice() -> None:
    """What the summary takes from the first group is not said again below it."""
    lines = plain_text(digest(news(), news("withdrawn", "other"))).splitlines()
    spoken = [line.strip() for line in lines if line.strip()]
    assert not [line for line in spoken[2:] if f". {line}" in spoken[1]]
