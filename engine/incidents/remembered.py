"""
What is remembered of a group, read though another version may have written it, as it does around an upgrade.

What of it this version does not know is left out: a cause, a fact. The incident goes on under its key and with its
readers, so that it is neither told twice nor open for ever.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from evenkeel.engine.facts import Fact
from evenkeel.engine.model import Diagnosis, IncidentState
from evenkeel.engine.records import CauseSpan, IncidentCourse, Readers, record_of
from evenkeel.engine.records.deriving import readable_of

log = logging.getLogger(__name__)

R = TypeVar("R")

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError)

UNKNOWN = Diagnosis.UNKNOWN
"""What is called wrong where this version knows no cause of an incident: the least, so that any other is worse."""


def course_of(stored: Any, group_id: str, snapshot_id: str, at: datetime) -> IncidentCourse | None:
    """
    What is remembered of a group, as far as it can be read.

    Args:
        stored: Its JSON form.
        group_id: The group.
        snapshot_id: The newest snapshot that was looked at.
        at: When its reading ended.

    Returns:
        None where nothing is to be made of it.
    """
    try:
        return record_of(IncidentCourse, stored)
    except UNREADABLE as problem:
        log.warning(
            "of group %s another version remembered what is not known: %s", group_id, problem
        )
    if not isinstance(stored, Mapping) or not stored.get("key"):
        log.error("of group %s nothing is remembered any more: %r", group_id, stored)
        return None
    return _known(stored, group_id, snapshot_id, at)


def _known(
    stored: Mapping[str, Any], group_id: str, snapshot_id: str, at: datetime
) -> IncidentCourse:
    spans = tuple(_spans(stored.get("causes")))
    cause = next(iter([*_causes([stored.get("cause")]), *(span.cause for span in spans)]), UNKNOWN)
    if stored.get("causes") and not spans:
        # without any it would be over at once, and told anew
        spans = (CauseSpan(cause=cause, since=at, last_seen_at=at, looks=0, amount=None),)
    return readable_of(
        IncidentCourse,
        {**stored, "causes": spans},
        group_id=group_id,
        state=IncidentState.OPEN if stored.get("opened_at") else IncidentState.SUSPECTED,
        cause=cause,
        began_at=at,
        began_snapshot_id=snapshot_id,
        readers=_readers(stored.get("readers"), cause, at),
    )


def _spans(stored: Any) -> Iterator[CauseSpan]:
    """The causes that are known, each with the facts that are."""
    for each in _listed(stored):
        try:
            yield record_of(CauseSpan, {**each, "facts": tuple(_facts(each.get("facts")))})
        except UNREADABLE:
            continue


def _facts(stored: Any) -> Iterator[Fact]:
    for each in _listed(stored):
        try:
            yield record_of(Fact, each)
        except UNREADABLE:
            continue


def _causes(stored: Any) -> Iterator[Diagnosis]:
    for each in _listed(stored):
        try:
            yield Diagnosis(each)
        except ValueError:
            continue


def _readers(stored: Any, cause: Diagnosis, at: datetime) -> Readers | None:
    """Who knows of it, and where; None where that is not to be made out."""
    if not isinstance(stored, Mapping):
        return None
    known = {**stored, "causes": tuple(_causes(stored.get("causes")))}
    try:
        return readable_of(Readers, known, cause=cause, at=at)
    except UNREADABLE:
        return None


def _listed(stored: Any) -> list[Any]:
    return list(stored) if isinstance(stored, list | tuple) else []
