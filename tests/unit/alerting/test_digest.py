"""The digest of a run: what a reader learns of each group, and what is cut."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from evenkeel.engine.alerting.digest import MOVES, WORST, advice_message
from evenkeel.engine.alerting.policy import News, NewsKind, new_advice
from evenkeel.engine.alerting.text import plain_text
from evenkeel.engine.message import AlertMessage, Announcement
from evenkeel.engine.model import Member, Move
from evenkeel.engine.ports import AdvisedSnapshot
from tests.helpers.outbox import CLUSTER, NOW, advice, group_metrics, score

SNAPSHOT = AdvisedSnapshot(
    snapshot_id="test-1",
    cluster=CLUSTER,
    started_at=NOW,
    finished_at=NOW,
    partial=False,
    problems=(),
    newest_advised_id="test-1",
    newest_started_at=NOW,
)


def digest(*news: News, moves: Any = None, **more: Any) -> AlertMessage:
    """The digest of some news."""
    given = {"verdicts": {"switch": len(news)}} | more
    snapshot = replace(SNAPSHOT, **given.pop("snapshot", {}))
    return advice_message(CLUSTER, snapshot, news, moves or {}, **given)


def switch(group: str = "payments", announced_strategy: str | None = None, **row: Any) -> News:
    """News of a switch."""
    return News(
        group_id=group,
        outcome=NewsKind.SWITCH,
        advice=advice(group, **row),
        announced_strategy=announced_strategy,
    )


def test_a_switch_says_what_why_how_and_how_sure() -> None:
    """A reader learns the strategy, the gain with its unit, the cost, the way and the certainty."""
    text = plain_text(digest(switch()))
    for expected in (
        "payments: switch to sticky",
        "Why: Largest member lag 900 -> 300 offsets (-67%).",
        "Floor: no assignment brings the largest member lag below 300 offsets.",
        "Cost: 4 of 12 partitions change hands once.",
        "How: Set partition.assignment.strategy.",
        "How sure: won in 2 snapshots in a row, since 2026-03-01 08:55:00 UTC; no lag and no rack is unknown.",
    ):
        assert expected in text


def test_what_the_reason_says_is_not_said_twice() -> None:
    """The reason's own measure is left out of the rest; another that changes is told, better or worse."""
    live = score(
        largest_member_lag=900, cross_rack_share=0.5, partition_spread=1, drain_seconds=math.inf
    )
    proposed = score(
        largest_member_lag=300, cross_rack_share=0.25, partition_spread=2, drain_seconds=90, moves=1
    )
    text = plain_text(digest(switch(live=live, proposed=proposed)))
    assert text.count("argest member lag 900") == 2  # the summary and the reason
    assert "Besides: cross-rack share 50% -> 25%; drain time never -> 1 min 30 s." in text
    assert "Price: partition spread 1 -> 2." in text


def test_unknown_numbers_are_called_unknown() -> None:
    """An unknown measure is neither a gain nor a zero; what is unknown lowers the certainty aloud."""
    row = {
        "live": score(),
        "proposed": score(racks_left_out=3),
        "metrics": group_metrics("payments", unknown_lag_partitions=2, partitions=None),
        "seen_since": None,
        "seen": 1,
    }
    text = plain_text(digest(switch(**row)))
    assert "Cost: 0 partitions change hands once." in text
    assert (
        "won in one snapshot so far; the lag of 2 partitions is unknown; racks of 3 partitions are unknown"
        in text
    )
    assert "Besides" not in text


def test_without_any_score_the_advice_is_still_told() -> None:
    """Candidates that are gone from the history leave the reason standing."""
    text = plain_text(digest(switch(live=None, proposed=None, metrics=None, how=None)))
    assert "How: not known." in text
    assert "Cost: how many partitions move is not known." in text


def test_a_changed_strategy_names_the_one_told_before() -> None:
    """Who already heard of another strategy is told that this one takes its place."""
    assert "instead of range, told before" in plain_text(digest(switch(announced_strategy="range")))


def test_withdrawn_and_taken_up_are_told_with_the_strategy() -> None:
    """The end of an advice names what had been advised and says why it is over."""
    ends = [
        News(
            group_id=g,
            outcome=o,
            advice=advice(g, "stay", reason="nothing to gain"),
            announced_strategy="sticky",
        )
        for g, o in (("a", NewsKind.WITHDRAWN), ("b", NewsKind.TAKEN_UP))
    ]
    message = digest(*ends)
    assert message.title == "test: 1 group should stay after all, 1 group took up the advice"
    text = plain_text(message)
    assert "a: no longer switch to sticky" in text
    assert "b: now runs sticky, as advised" in text
    assert "Why: Nothing to gain." in text


def test_the_worst_are_told_in_full_and_the_rest_counted() -> None:
    """A long list is cut to the worst; the others are named, and everybody counts as told."""
    rows = [advice(f"g{n:03}", live=score(largest_member_lag=n)) for n in range(40)]
    message = digest(*new_advice(rows, {}))
    assert [s.heading.split(":")[0] for s in message.sections[:2]] == ["g039", "g038"]
    assert message.sections[-1].heading == f"and {40 - WORST} more groups"
    assert len(message.sections) == WORST + 1
    assert {known.group_id for known in message.announcements} == {row.group_id for row in rows}
    assert (
        message.more
        == "All of it: SELECT * FROM latest_advice WHERE cluster = 'test' AND verdict = 'switch'"
    )


def test_moves_are_listed_up_to_a_number() -> None:
    """Some moves are spelt out, the others counted; nobody's partition is nobody's."""
    moves = [
        Move(topic="orders", partition=n, from_member=None if n == 0 else "m1", to_member="m2")
        for n in range(MOVES)
    ]
    message = digest(switch(proposed=score(moves=9, newly_owned=1)), moves={"payments": moves})
    code = message.sections[0].code
    assert code[0] == "orders-0: (nobody) -> m2"
    assert code[-1] == "and 5 more"
    assert (
        "Cost: 9 of 12 partitions change hands once, 1 unowned partition gets an owner."
        in plain_text(message)
    )


def test_the_footer_says_how_whole_the_snapshot_is() -> None:
    """A partial snapshot is called so, with its problems."""
    message = digest(
        switch(),
        snapshot={"partial": True, "problems": ["broker 3: timeout"]},
        verdicts={"stay": 3, "switch": 1},
    )
    assert (
        "Snapshot test-1, read 2026-03-01 09:00:00 UTC; 4 groups: 3 stay, 1 switch."
        in message.footer
    )
    assert "The snapshot is partial: broker 3: timeout." in message.footer


def test_owner_and_yardstick_are_told() -> None:
    """The group's owner, and the better assignment it cannot deploy, stand with its advice."""
    news = switch(yardstick="balanced", yardstick_reason="partition spread 3 -> 0")
    text = plain_text(digest(news, owners={"payments": "team money"}))
    assert "Owner: team money." in text
    assert "Possible, not deployable here: balanced. Partition spread 3 -> 0." in text


def test_what_was_told_is_what_the_next_run_compares_with() -> None:
    """A switch is told with its strategy, an end without any."""
    end = News(
        group_id="b",
        outcome=NewsKind.WITHDRAWN,
        advice=advice("b", "stay"),
        announced_strategy="sticky",
    )
    assert digest(switch("a"), end).announcements == (
        Announcement(group_id="a", verdict="switch", strategy="sticky"),
        Announcement(group_id="b", verdict="stay", strategy=None),
    )


def test_what_was_taken_for_unknown_is_told_with_the_advice() -> None:
    """Notes of the present and of the proposal stand in one line; without any there is none."""
    text = plain_text(digest(switch(notes=("tags follow zone", "a rack"))))

    assert "Note: Tags follow zone; a rack." in text
    assert "Note: " not in plain_text(digest(switch()))


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
    message = digest(switch(members=members), moves={"payments": moves})
    assert message.sections[0].code[:3] == (
        "t-0: orders-0 -> b /h1",
        "t-1: b /h1 -> b /h2",
        "t-2: (nobody) -> orders-0",
    )
