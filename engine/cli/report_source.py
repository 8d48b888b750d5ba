"""What `evenkeel report` shows: from a recording or a lake, which is evaluated, or from the history database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from .. import wiring
from ..messages.wording import several
from ..report import FleetReport
from ..report import report as judging
from ..report.from_history import SNAPSHOTS, stored_report
from ..report.rack_outages import rehearse
from . import sources
from .command_end import NothingFound, complain
from .database import database
from .local_mode import look
from .patterns import is_pattern, matching, no_group

JUDGED = 14_400
"""So many groups, snapshot by snapshot, are evaluated without being asked: some minutes at most."""

FEWEST = 12
"""So many snapshots are read, however many groups there are: an hour at five minutes."""

EVERY = 10
"""After so many snapshots a line says how far it is."""

REHEARSED = 100
"""The same for groups that lose a rack."""


def snapshots_for(groups: int) -> int:
    """
    How many snapshots to read of so many groups.

    >>> snapshots_for(14), snapshots_for(200), snapshots_for(1000), snapshots_for(10_000)
    (288, 72, 14, 12)
    """
    return max(FEWEST, min(SNAPSHOTS, JUDGED // max(groups, 1)))


def from_lake(
    stored: str | None,
    cluster: str | None,
    pattern: str,
    limit: int | None,
    *,
    without_racks: bool = False,
) -> FleetReport:
    """
    Local mode: every snapshot is evaluated.

    Args:
        stored: A recording, a lake folder, or `lake` for the configured one, which is the default.
        cluster: Whose snapshots; may be left out where there is one cluster.
        pattern: A group's name or a shell pattern of them.
        limit: How many snapshots at most; None: by how many groups there are.
        without_racks: Whether the end of each rack is rehearsed.

    Raises:
        NothingFound: No group could be evaluated.
    """
    source = sources.stored_source(stored, cluster)
    pattern = sources.select_ever(source, pattern)
    groups = len(matching(pattern, sources.group_ids(source, source.newest)))
    usual = snapshots_for(groups)
    there = len(source.ids(limit or SNAPSHOTS))
    if limit is None and there > usual:
        complain(
            f"looking at the newest {usual} of {several(there, 'snapshot')}: there are {several(groups, 'group')}, and "
            "each is evaluated each time. --snapshots limits them; --database takes stored results."
        )
    planned = min(there, limit or usual)

    def tell(passed: int) -> None:
        if passed % EVERY == 0 and passed < planned:
            complain(f"{passed} of {several(planned, 'snapshot')} judged")

    fleet = judging.report(
        source.lake,
        wiring.scratch_history(),
        source.settings,
        source.cluster,
        datetime.now(UTC),
        f"{'the lake' if stored in (None, 'lake') else Path(stored).name}, local run",
        pattern,
        planned,
        tell if groups * planned > JUDGED else lambda passed: None,
    )
    if not fleet.groups:
        raise NothingFound(f"no group of {stored or 'lake'} could be evaluated.")
    if not without_racks:
        return fleet
    return replace(fleet, rehearsal=rehearse(source.settings, look(source, pattern), _rehearsed))


def _rehearsed(passed: int, every: int) -> None:
    if passed % REHEARSED == 0 and passed < every:
        complain(f"{passed:,} of {several(every, 'group')} rehearsed without each rack")


def from_database(cluster: str | None, pattern: str, limit: int | None) -> FleetReport:
    """
    What the pipeline stored.

    Args:
        cluster: Whose; may be left out where there is one cluster.
        pattern: A group's name or a shell pattern of them.
        limit: How many snapshots at most; None: a day of them at five minutes.

    Raises:
        NothingFound: The history is empty, or has no such group in that time.
        InputError: The cluster is not in it, or not given.
        HistoryUnreachable: The database does not answer.
    """
    settings, where = database()
    complain(f"database: {where}")
    history = wiring.report_history(settings)
    name = sources.chosen(
        history.report_clusters(), cluster, where, "The first run of the pipeline stores one."
    )
    limit = limit or SNAPSHOTS
    alone = None if pattern == "*" else stored_report(history, name, group=pattern, snapshots=limit)
    # a group of exactly that name is meant alone, whatever signs are in it
    if alone is not None and (alone.groups or not is_pattern(pattern)):
        fleet = alone
    else:
        fleet = stored_report(history, name, pattern, snapshots=limit)
    if fleet.groups:
        return fleet
    if not fleet.taken_at:
        raise NothingFound(f"the history of {name} has no snapshot with metrics yet.")
    known = {one.group_id for one in stored_report(history, name, snapshots=1).groups}
    raise no_group(pattern, f"in cluster {name}", known)
