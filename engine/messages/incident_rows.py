"""The row of an incident in the history database, and the rule and owner of its group."""

from __future__ import annotations

from ..config import Rule, Settings
from ..incidents.evaluation import Judgment
from ..model.logs import logger
from ..records import IncidentCourse, IncidentRow
from .wording.incidents import summary_of

log = logger(__name__)


def rule_of(settings: Settings, cluster: str, course: IncidentCourse) -> Rule:
    """The rule of the group of an incident; of a pipeline, that of all groups of its cluster."""
    return settings.rule(cluster, "*" if course.group_id is None else course.group_id)


def owner_of(settings: Settings, cluster: str, course: IncidentCourse) -> str | None:
    """The owner of the group of an incident; a pipeline has no owner."""
    return None if course.group_id is None else rule_of(settings, cluster, course).owner


def shown(settings: Settings, judgment: Judgment, course: IncidentCourse) -> IncidentRow | None:
    """The row of an incident in the history database; a failure of its text doesn't affect the others."""
    cluster, at = judgment.cluster, judgment.at
    try:
        summary = summary_of(course, cluster)
    except Exception:
        log.exception("the text about %s failed", course.name)
        summary = course.cause.value
    owner = owner_of(settings, cluster, course)
    return IncidentRow.of_course(course, cluster=cluster, at=at, owner=owner, summary=summary)
