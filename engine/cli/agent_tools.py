"""
What an agent can ask of `evenkeel mcp`, a method each: the functions behind a verb's `--json` answer, with its objects.

Each docstring and each description of a parameter is what the agent reads. What a verb says on standard error is said
there, too. How questions come here is none of this module's business (`mcp_server`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Annotated, Any, get_type_hints

from pydantic import Field

from ..messages.wording import moment
from ..model.assignments import ABLE
from ..model.errors import InputError
from ..model.text import several
from ..pipeline.readiness import readiness_rows
from ..pipeline.whatif import SeenGroup
from ..records import to_json
from ..snapshots import split_snapshot_id
from . import questions, sources, whatif_options
from .command_end import complain
from .custom import is_place
from .database import database
from .local_mode import REMEMBERED, WITH_FORECASTS, judge, look
from .sources import SnapshotSource
from .verbs import advise, query, readiness, runbook, whatif
from .verbs.lag import tell_unreadable
from .views import fleet
from .views.runbook import runbook_object

FRESH = 5.0
"""Seconds for which a snapshot answers further questions."""

LISTED = (
    *("snapshot_id", "cluster", "group", "diagnosis", "diagnosis_reason", "action"),
    *("total_lag", "delay_seconds", "production_per_second", "consumption_per_second"),
    *("members", "partitions", "verdict", "strategy", "advice_state", "reason", "findings"),
    "error",
)
"""The keys of a group in a list."""

DETAILS = (
    *("strategies", "facts", "best_undeployable_facts", "moves", "past_changes", "says"),
    *("forecast_course", "commit_ages_seconds", "assignment", "moved", "on", "active", "standby"),
)
"""Keys of lists and objects that only an answer with details has."""

FORECAST = (
    *("strategy", "is_running", "deployment", "feasibility", "reason", "moves"),
    *("price_restarts", "price_held_up_offsets", "overload_per_second"),
)
"""The keys of a strategy beside its forecast."""

Row = Mapping[str, Any]


class Snapshots:
    """
    The snapshots that questions are about: fresh ones of a live cluster, kept in memory, or those that are stored.

    Of a live cluster the first question takes several and each later one another, unless the newest is `FRESH`.
    """

    def __init__(
        self,
        bootstrap: str | None,
        cluster: str | None,
        stored: str | None,
        *,
        samples: int = 3,
        every: float = 5,
    ) -> None:
        """
        Args: as of `sources.open_source`; a live cluster is not asked before the first question.

        Raises:
            InputError: They contradict each other, or name nothing that can be read.
            ConfigError: The cluster is not configured.
        """
        self._open = partial(
            sources.open_source, bootstrap, cluster, stored, samples=samples, every=every
        )
        self._is_live = stored is None
        self._source: SnapshotSource | None = None
        self._at = -math.inf
        if self._is_live:
            sources.live_cluster(bootstrap, cluster)
        else:
            self.now()

    def now(self) -> SnapshotSource:
        """
        The source as it is now.

        Raises:
            ClusterUnreachable: No broker answered.
        """
        if self._source is None or time.monotonic() - self._at > FRESH:
            self._source = self._newer(self._source)
            self._at = time.monotonic()
        return self._source

    def _newer(self, source: SnapshotSource | None) -> SnapshotSource:
        if source is None or not self._is_live:
            return self._open()
        return sources.newer(source, REMEMBERED * source.settings.lookback + 1)


def _said(verb: Callable[..., None], parameter: str) -> Any:
    """What the help of a verb says of one of its options."""
    option = get_type_hints(verb, include_extras=True)[parameter].__metadata__[0]
    return Field(description=f"{option.metavar}: {option.help}")


Group = Annotated[str, _said(advise.advise, "group")]
Texts = list[str] | None
Limit = Annotated[int, Field(ge=1, description="At most so many groups.")]
Details = Annotated[bool, Field(description="Give all keys and rows; the answer gets large.")]


class Tools:
    """
    The questions.

    Args:
        snapshots: What they are about.
    """

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def list_groups(
        self,
        group: Group = "*",
        limit: Limit = 50,
    ) -> Iterable[Row]:
        """
        List consumer groups, the most severe first.

        Each has its diagnosis with the reason and what to do, its lag in offsets (records), its delay in seconds
        beyond its commit interval, rates in records per second, and whether another assignment strategy is advised
        (verdict: switch, stay, not evaluated).
        """
        rows = self._judged(group)
        _tell_left_out(rows, limit)
        return [{key: row[key] for key in LISTED} for row in rows[:limit]]

    def explain_group(self, group: Group, details: Details = False) -> Iterable[Row]:
        """
        Explain a consumer group: why it is behind, what to do, and what is advised about its assignment.

        diagnosis, diagnosis_reason and action tell the problem. verdict (switch, stay, not evaluated), strategy,
        advice_state, reason and how tell the advice; advice that is proposed waits for more evidence. With details
        also the partitions that would move, and the scores and forecasts of every strategy.
        """
        return [_brief(row, details) for row in self._judged(group)]

    def forecast(self, group: Group, details: Details = False) -> Iterable[Row]:
        """
        Forecast the lag of a consumer group in 15 minutes and in one hour, under each strategy available to it.

        Strategy "live" is the current assignment; is_running marks the strategy that made it. forecast_lag_* is in
        offsets, forecast_delay_seconds_* is how far behind it then is, forecast_drained_seconds_* is when it has caught
        up, forecast_utilization_* is load over capacity of its busiest member. price_restarts and
        price_held_up_offsets are what the switch costs. With details also strategies that are not available.
        """
        for row in self._judged(group):
            for one in row["strategies"]:
                if details or one["feasibility"] in ABLE:
                    kept = (k for k in one if details or k in FORECAST or k.startswith("forecast_"))
                    yield {"group": row["group"], **{key: one[key] for key in kept}}

    def what_if(
        self,
        group: Group,
        members: Annotated[Texts, _said(whatif.whatif, "members")] = None,
        without: Annotated[Texts, _said(whatif.whatif, "without")] = None,
        without_rack: Annotated[Texts, _said(whatif.whatif, "without_rack")] = None,
        partitions: Annotated[Texts, _said(whatif.whatif, "partitions")] = None,
        rack: Annotated[Texts, _said(whatif.whatif, "rack")] = None,
        capacity: Annotated[Texts, _said(whatif.whatif, "capacity")] = None,
        threads: Annotated[Texts, _said(whatif.whatif, "threads")] = None,
        settings: Annotated[Texts, _said(whatif.whatif, "settings")] = None,
        strategies: Annotated[
            Texts,
            Field(description="Only these strategies. Default: those available to the group."),
        ] = None,
        details: Details = False,
    ) -> Iterable[Row]:
        """
        Forecast a consumer group with other members, partitions, racks or capacities, before you change it.

        The first row is the group as it is; then comes one per strategy, with the change. Units are as in forecast.
        fewest_members is how many members it needs to keep up, most_members how many have something to do: more
        would be idle. lost and assumed say what the answer rests on. With details also who owns what.
        """
        source = self._snapshots.now()
        options = whatif_options.Options(
            members=members or (),
            without=without or (),
            lost=without_rack or (),
            partitions=partitions or (),
            racks=rack or (),
            capacities=capacity or (),
            threads=threads or (),
            settings=settings or (),
        )
        named = whatif_options.named_of([_name(one) for one in strategies or ()])
        rows: list[Row] = []

        def ask(seen: SeenGroup) -> None:
            rows.extend(whatif.objects(whatif.reply_of(source, seen, options, named)))

        sources.each_of(look(source, sources.select(source, group)), ask, apart=False)
        _tell(source)
        return [_brief(row, details) for row in rows]

    def how_to_switch(
        self,
        group: Group,
        strategy: Annotated[
            str | None, Field(description="Its name. Default: the one that is advised.")
        ] = None,
    ) -> Iterable[Row]:
        """
        Get the runbook for switching one consumer group to a strategy: restarts, settings, checks and rollback.

        Each of ways is for some client libraries: rounds has the restarts in order, with the settings for each
        library, how long members pause (longest_pause_seconds) and how many records wait (waiting_offsets); back is
        the rollback. You carry it out: evenkeel changes nothing.
        """
        steps = runbook.steps_of(self._snapshots.now(), group, strategy and _name(strategy))
        return [runbook_object(steps)]

    def readiness(
        self, group: Group = "*", limit: Limit = 50, details: Details = False
    ) -> Iterable[Row]:
        """
        List which consumer groups can move to the consumer protocol (KIP-848), in the order in which they should.

        place is its turn. why tells what forbids the move or makes it stop all members; losses, gains and notes tell
        what it changes, the settings of the group on the brokers included. next_step prints the move and its rollback.
        """
        source = self._snapshots.now()
        rows = readiness_rows(source.settings, readiness.groups_of(source, group))
        _tell(source)
        _tell_left_out(rows, limit)
        return [_brief(to_json(row), details) for row in rows[:limit]]

    def history(
        self,
        name: Annotated[
            str | None, Field(description="The query. Without it, all queries are listed.")
        ] = None,
        parameters: Annotated[
            Mapping[str, str | int | float] | None,
            Field(description="Its parameters, e.g. group (an id or a shell pattern) or limit."),
        ] = None,
    ) -> Iterable[Row]:
        """
        Query the stored history by name: lag over time, worst groups, incidents, rebalances, advice and its outcome.

        Ask without a name first: that lists every query with its question and its parameters. Times are in UTC: the
        last 14:00, 2h (ago), or 2026-03-01T14:00Z.
        """
        if name is None:
            return questions.catalogue()
        statement = questions.question(name)
        given = [f"{key}={value}" for key, value in (parameters or {}).items()]
        values = questions.read_parameters(statement, given)
        return query.found(database()[0], statement, values)

    def _judged(self, group: str) -> list[dict[str, Any]]:
        """The matching groups as `advise --json` prints them, the most severe first."""
        source = self._snapshots.now()
        found = sorted(judge(source, sources.select(source, group)), key=fleet.order)
        _tell(source)
        tell_unreadable(source, [one.metrics for one in found])
        return [*advise.objects(source, found)]


def _tell(source: SnapshotSource) -> None:
    """Say what was looked at."""
    _, taken_at = split_snapshot_id(source.newest)
    looked_at = several(len(source.ids(source.settings.lookback + 1)), "snapshot")
    complain(f"{WITH_FORECASTS}; cluster {source.cluster} at {moment(taken_at)}, from {looked_at}")


def _tell_left_out(rows: Collection[Any], limit: int) -> None:
    """Say how many are beyond the limit."""
    if len(rows) > limit:
        complain(f"left out: the last {several(len(rows) - limit, 'group')}; raise limit.")


def _brief(row: Row, details: bool) -> Row:
    """A row without `DETAILS`; a number of that name stays."""
    if details:
        return row
    return {
        key: value
        for key, value in row.items()
        if key not in DETAILS or not isinstance(value, Collection)
    }


def _name(strategy: str) -> str:
    """
    A strategy by its name: code that is named from afar is not run.

    Raises:
        InputError: It is a place.
    """
    if is_place(strategy):
        raise InputError(
            f"strategy {strategy!r} is a place, and agents run no code.", fix="Give a name."
        )
    return strategy
