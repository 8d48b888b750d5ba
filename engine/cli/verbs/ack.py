"""`evenkeel ack`: acknowledge open incidents, so that they are not notified again."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ...model import moments
from ...model.states import IncidentState
from ...model.text import listed, printable, several
from ..options import Group, epilog
from ..patterns import no_group
from ..silence_options import By, Clusters, For, Reason, Until

if TYPE_CHECKING:
    from ...config import Settings
    from ...ports import History
    from ...records import IncidentCourse

EPILOG = epilog(
    [
        "evenkeel ack --group orders-app --reason 'restarting the pods'",
        "evenkeel ack --group 'orders-*' --cluster eu --for 4h --by ana --reason 'waiting for the broker team'",
        "evenkeel query open_incidents                         # open incidents, and who acknowledged them",
    ],
    [0, 1, 2, 5],
    "Acknowledges the incidents that are open now, until they are resolved or until the given end. Their messages "
    "show it. Until then evenkeel notifies you only if one becomes more severe or is resolved. Later incidents alert "
    "as usual; to stop them, use `evenkeel silence`.",
)


def ack(
    group: Group,
    reason: Reason,
    until: Until = None,
    lasts: For = None,
    cluster: Clusters = "*",
    by: By = None,
) -> None:
    """Acknowledge the open incidents of groups."""
    from ...messages.wording import moment
    from ...records import SilenceKind
    from .. import silence_options

    why = silence_options.given_reason(reason)
    settings, history = silence_options.history_at()
    groups, incidents = _incidents(settings, history, cluster, group)
    # the clock that opened them may be ahead of ours: an ack covers what opened before it
    now = max(
        [moments.utc_now(), *(course.opened_at for _, course in incidents if course.opened_at)]
    )
    ends_at = silence_options.end_of(now, until, lasts)
    number = silence_options.keep(history, SilenceKind.ACK, cluster, groups, now, ends_at, why, by)
    names = [f"{printable(course.name)} ({of}, {course.cause})" for of, course in incidents]
    end = f"until {moment(ends_at)}" if ends_at else "until they are resolved"
    print(f"ack {number}: {several(len(names), 'incident')} {end}: {listed(names, 10)}")
    print(f"to undo: evenkeel silence --end {number}")


def _incidents(
    settings: Settings, history: History, clusters: str, pattern: str
) -> tuple[str, list[tuple[str, IncidentCourse]]]:
    """The pattern of groups that is meant, and the open incidents of such groups, each with its cluster."""
    from .. import silence_options

    known = sorted({*settings.clusters, *history.newest_groups()})
    opened = [
        (cluster, course)
        for cluster in known
        if fnmatchcase(cluster, clusters)
        for course in history.incident_watch(cluster).courses
        if course.state is IncidentState.OPEN
    ]
    names = {course.name for _, course in opened}
    groups = silence_options.exactly(pattern, {"": sorted(names)})
    own = [each for each in opened if fnmatchcase(each[1].name, groups)]
    if not own:
        fix = "See `evenkeel query open_incidents`. For future incidents, use `evenkeel silence`."
        raise no_group(pattern, "with an open incident", names, fix)
    return groups, own
