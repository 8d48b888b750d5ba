"""What another version remembered of a group: the incident goes on, told once, and has its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.engine.alerting.rounds import Round, round_of
from evenkeel.engine.config import Settings
from evenkeel.engine.incidents.judged import Judged, Judgement, Trouble
from evenkeel.engine.incidents.remembered import course_of
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.ports import GroupWatch
from evenkeel.engine.records import IncidentCourse, to_json
from tests.helpers.incidents import CLUSTER, at, course

Json = dict[str, Any]

GROUP = "orders-app"


def other_cause(stored: Json) -> None:
    """The only cause is one that is not known, and its readers know it."""
    stored["cause"] = stored["readers"]["cause"] = stored["causes"][0]["cause"] = "bewitched"
    stored["readers"]["causes"] = ["bewitched"]


def further_cause(stored: Json) -> None:
    """Beside a known cause there is one that is not."""
    stored["causes"] = [{**stored["causes"][0], "cause": "bewitched"}, *stored["causes"]]


def other_fact(stored: Json) -> None:
    """A fact of a kind that is not known, beside one that is."""
    facts = stored["causes"][0]["facts"]
    facts.append({**facts[0], "kind": "omen"})


def other_state(stored: Json) -> None:
    """It has come to a state that is not known."""
    stored["state"] = "simmering"


def other_span(stored: Json) -> None:
    """Nothing of what is wrong is as it is written here."""
    stored["causes"] = ["behind its objective"]


def other_moment(stored: Json) -> None:
    """Moments are written in another way."""
    stored["began_at"] = stored["readers"]["at"] = {"seconds": 1}


CHANGES: list[Callable[[Json], None]] = [
    other_cause,
    further_cause,
    other_fact,
    other_state,
    other_span,
    other_moment,
]


def remembered(change: Callable[[Json], None]) -> IncidentCourse:
    """An incident that was told, as another version wrote it."""
    stored = to_json(course())
    change(stored)
    read = course_of(stored, GROUP, "s1", at(5))
    assert read is not None
    return read


def looked(before: GroupWatch, minutes: float, wrong: Diagnosis | None) -> tuple[Round, GroupWatch]:
    """The next snapshot: what is told, and what is remembered then."""
    odd = {}
    if wrong is not None:
        conditions = (Trouble(kind=wrong, amount=None),)
        judged = Judged(group_id=GROUP, diagnosis=Diagnosis.UNKNOWN, troubles=conditions)
        odd = {GROUP: judged}
    judgement = Judgement(
        cluster=CLUSTER,
        snapshot_id=f"s{minutes:g}",
        at=at(minutes),
        earlier=before.snapshot_id,
        listed=(GROUP,),
        odd=odd,
    )
    done = round_of(before, judgement, Settings())
    return done, done.after(before, judgement)


def watch_of(one: IncidentCourse) -> GroupWatch:
    """A cluster that was looked at before."""
    return GroupWatch(cluster=CLUSTER, snapshot_id="s1", at=at(5), first_at=at(-60), courses=(one,))


def test_what_this_version_wrote_is_read_as_it_is() -> None:
    """All of it."""
    assert course_of(to_json(course()), GROUP, "s1", at(5)) == course()


@pytest.mark.parametrize("change", CHANGES)
def test_an_incident_that_another_version_wrote_ends_where_it_was_told(
    change: Callable[[Json], None],
) -> None:
    """Once the group is well its message says so, and its thread; then nothing is remembered."""
    one = remembered(change)
    assert (one.key, one.readers and one.readers.alert_key) == (
        course().key,
        f"incident {course().key} opened",
    )
    watch, told = watch_of(one), []
    for minutes in (10, 15, 20, 25, 30):
        done, watch = looked(watch, minutes, None)
        told += [(posting.key, posting.replaces, posting.answers) for posting in done.postings]
    its, opened = f"incident {course().key}", f"incident {course().key} opened"
    assert told == [
        (f"{its} resolved", opened, None),
        (f"{its} resolved thread", None, opened),
    ]
    assert not [course for course in watch.courses if course.causes]


@pytest.mark.parametrize("change", CHANGES)
def test_an_incident_that_another_version_wrote_is_not_opened_again(
    change: Callable[[Json], None],
) -> None:
    """While the group is behind, as its readers know: at most the message that is there is changed, once."""
    watch, told = watch_of(remembered(change)), []
    for minutes in (10, 15, 20, 25, 30):
        done, watch = looked(watch, minutes, Diagnosis.CATCHING_UP)
        told += [posting for posting in done.postings]
    assert {posting.replaces or posting.answers for posting in told} <= {
        f"incident {course().key} opened"
    }
    assert len(told) <= 2


@pytest.mark.parametrize("stored", [None, [], "behind", {}, {"key": None}])
def test_what_is_nothing_of_the_kind_is_passed_over(stored: object) -> None:
    """It hides no other group."""
    assert course_of(stored, GROUP, "s1", at(5)) is None


def test_readers_that_are_not_to_be_made_out_are_nobody() -> None:
    """It is queued anew under the key that it had, which the outbox does not tell twice."""

    def other_readers(stored: Json) -> None:
        stored["readers"] = {"audience": "all"}

    watch, told = watch_of(remembered(other_readers)), []
    for minutes in (10, 15):
        done, watch = looked(watch, minutes, Diagnosis.CATCHING_UP)
        told += [posting.key for posting in done.postings]
    assert told == [f"incident {course().key} opened"]
