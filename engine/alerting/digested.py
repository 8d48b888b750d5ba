"""
What has become of the groups that a digest told of: how many are well again, and which are not.

The message is changed at most once per snapshot, and only when the number of those that are well has changed, or when
nobody is left who goes by it. Who became worse has a message of its own since, and is counted as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from evenkeel.engine.model import IncidentState
from evenkeel.engine.records import IncidentCourse


@dataclass(frozen=True, slots=True, kw_only=True)
class Digested:
    """
    A digest some time after it was posted.

    Attributes:
        key: Key of the alert.
        channel: Where it is.
        at: When what it said was true.
        among: How many groups it named.
        well: Those that are well again.
        since: When the newest of them was well; None where none is since the snapshot before.
        left: Those that still go by it.
        is_news: Whether its readers are to be told.
    """

    key: str
    channel: str
    at: datetime
    among: int
    well: tuple[str, ...]
    since: datetime | None
    left: tuple[IncidentCourse, ...]
    is_news: bool


def digested(
    before: Iterable[IncidentCourse], after: Mapping[str, IncidentCourse]
) -> Iterator[Digested]:
    """
    What has become of each digest that somebody goes by.

    Args:
        before: What was remembered of the groups.
        after: The same after one snapshot more, by group, with what their readers have been told of it.
    """
    members: dict[str, list[IncidentCourse]] = {}
    for course in before:
        if course.readers and course.readers.among and course.state is IncidentState.OPEN:
            members.setdefault(course.readers.alert_key, []).append(course)
    for key, its in members.items():
        now = [after[course.group_id] for course in its if course.group_id in after]
        now = [course for course in now if course.readers and course.readers.alert_key == key]
        yield _digested(key, its, now)


def _digested(key: str, its: list[IncidentCourse], now: list[IncidentCourse]) -> Digested:
    readers = [course.readers for course in its if course.readers]
    over = [course for course in now if course.state is IncidentState.RESOLVED]
    newly = {course.group_id: course.well_since for course in over if course.well_since}
    well = (*dict.fromkeys(name for each in readers for name in each.well), *newly)
    left = tuple(course for course in now if course.state is IncidentState.OPEN)
    return Digested(
        key=key,
        channel=readers[0].channel,
        at=min(each.at for each in readers),
        among=readers[0].among,
        well=well,
        since=max((since for since in newly.values() if since), default=None),
        left=left,
        is_news=bool(newly or (well and not left)),
    )
