"""Groups whose members subscribe to different topics: who can take what, and whether it is on its way."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.messages.wording import each_with_remarks
from tests.helpers.measuring import metric_rows, observed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

TOPICS = [topic("t", 4), topic("u", 2), topic("v", 3)]


def _sample(*subscriptions, number=0, **columns):
    members = [
        member(f"m{place}", [*topics], {"t": [place]}) for place, topics in enumerate(subscriptions)
    ]
    described = group("g", members=members, committed={"t": 1000}, **columns)
    return groups(make_snapshot(number=number, topics=TOPICS, groups=[described]))[0]


def _told(now, *before):
    """The finding about subscriptions with its remarks; None where there is none."""
    told = each_with_remarks(observed(now, before).findings[0])
    return next((text for text in told if "different subscriptions" in text), None)


def test_who_can_take_what_is_told_of_the_fewest_first():
    """How many subscriptions there are, which topics only some read, and of how many members each topic is."""
    assert _told(_sample("t", "tu", "tuv", "tv")) == (
        "its 4 members have 4 different subscriptions: not all of them read u, v (5 partitions), only 2 of 4"
        " members can receive u, v"
    )


@pytest.mark.parametrize(
    ("subscriptions", "columns"),
    [
        (["tu", "tu"], {}),
        (["tu"], {}),
        (["t", "tu"], {"state": "PreparingRebalance"}),
        (["t", "tu"], {"assignor": "stream"}),
    ],
    ids=["equal", "alone", "in motion", "of Kafka Streams"],
)
def test_nothing_is_told_of_others(subscriptions, columns):
    """Equal subscriptions are the normal case; in motion they are not known, and Kafka Streams deals tasks out."""
    assert _told(_sample(*subscriptions, **columns)) is None


@pytest.mark.parametrize(
    ("before", "since"),
    [
        ([["t", "tu", "t"], ["t", "t", "t"]], "12:10:00 UTC 2 of 3"),
        ([["t", "t", "t"]], "12:15:00 UTC 2 of 3"),
        ([["t", "tu", "t"], ["tu", "t", "t"]], None),
        ([["t", "tu", "t"], ["tv", "tv", "tv"]], None),
        ([["t", "tu", "t"], ["t"]], None),
    ],
    ids=["midway", "just begun", "always so", "all have others", "one member alone"],
)
def test_a_rolling_change_is_told_with_its_beginning(before, since):
    """All had one subscription until then, some still have it; else nothing shows that it will be equal again."""
    then = [_sample(*each, number=2 - place) for place, each in enumerate(before)]
    told = _told(_sample("t", "tu", "tu", number=3), *then)

    assert ("rolling change: since 2026-03-01 " in told) is (since is not None)
    assert (since or "") in told


def test_the_database_gets_one_sentence_and_the_values():
    """`findings` of group_metrics has it in words, `facts` with its numbers; it is no diagnosis."""
    [row] = metric_rows(Settings(), _sample("t", "tu", "t"))["group_metrics"]
    facts = {fact["measure"]: fact for fact in row["facts"]}

    assert row["findings"][:1] == [_told(_sample("t", "tu", "t"))]
    assert facts["topic_takers"].items() >= {"subjects": ["u"], "after": 1, "bound": 3}.items()
    assert facts["unequal_subscriptions"]["partitions"] == 2
    assert "subscription" not in (row["diagnosis_reason"] or "")
