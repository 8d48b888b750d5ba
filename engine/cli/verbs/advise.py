"""`evenkeel advise`: what each group should do about its assignment, and why, without any service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ...model.errors import InputError
from ...model.text import several
from ..command_end import complain
from ..options import (
    AsCsv,
    AsJson,
    Bootstrap,
    ClusterName,
    Every,
    Group,
    Raw,
    Samples,
    Stored,
    Strategies,
    Wide,
    epilog,
    one_format,
    option,
)

if TYPE_CHECKING:
    from ..local_mode import JudgedGroup
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel advise --from cluster.recording",
        "evenkeel advise --from cluster.recording --group orders-app   # problem, advice, effect, cost, next step",
        "evenkeel advise --bootstrap broker1:9092 --group orders-app   # now: three snapshots, five seconds apart",
        "evenkeel advise --from lake --cluster prod --json | jq 'select(.verdict == \"switch\")'",
    ],
    [0, 1, 2, 3, 4],
    "This is a local run: no Spark, no validation, no database, no alerts. Rates, diagnoses and recommended switches "
    "need several snapshots. From one snapshot they are unknown.",
    "Unhealthy groups come first, worst on top. Healthy groups are counted; --all lists them. Tables are at most 120 "
    "columns wide. --wide, --csv and --json keep everything.",
    "--tradeoff shows cross-rack traffic against moved partitions (the two weights of KIP-925). Each line is the "
    "cheapest assignment for a range of weights. For Kafka Streams it also prints the settings that lead there.",
)


def advise(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    group: Group = "*",
    samples: Samples = 3,
    every: Every = 5,
    strategies: Strategies = None,
    tradeoff: Annotated[
        bool,
        option(
            "--tradeoff",
            "Also show cross-rack traffic against moved partitions for each weighting (one group).",
        ),
    ] = False,
    all_groups: Annotated[bool, option("--all", "List healthy groups too.")] = False,
    wide: Wide = False,
    moves: Annotated[
        bool, option("--moves", "List the partitions that would move (one group).")
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    raw: Raw = False,
) -> None:
    """Diagnose groups and recommend an assignment strategy."""
    from ...messages.wording import moment
    from ...snapshots import split_snapshot_id
    from .. import sources
    from ..custom import include_all
    from ..local_mode import WITH_FORECASTS, judge
    from ..views import fleet, scoreboard
    from ..views.tables import emit, emit_csv, show
    from .lag import tell_unreadable

    one_format(as_json, as_csv)
    include_all(strategies)
    source = sources.open_source(bootstrap, cluster, stored, samples=samples, every=every)
    judged = judge(source, sources.select(source, group))
    if tradeoff and len(judged) != 1 and not (as_json or as_csv):
        raise InputError(
            f"--tradeoff is for one group, here are {len(judged):,}.", fix="Name it with --group."
        )
    _, taken_at = split_snapshot_id(source.newest)
    looked_at = len(source.ids(source.settings.lookback + 1))
    is_fleet = len(judged) != 1 and not (wide or as_json or as_csv)
    if not is_fleet:
        complain(
            f"{WITH_FORECASTS}; cluster {source.cluster}, {several(len(judged), 'group')} "
            f"at {moment(taken_at)}, from {several(looked_at, 'snapshot')}"
        )
    if as_json or as_csv:
        rows = objects(source, judged, tradeoff=tradeoff)
        emit(rows) if as_json else emit_csv(rows, raw=raw)
    elif is_fleet:
        fleet.show_fleet(
            fleet.Fleet(
                groups=judged,
                cluster=source.cluster,
                taken_at=taken_at,
                snapshots=looked_at,
                settings=source.settings,
            ),
            every=all_groups,
        )
    elif len(judged) != 1:
        show([scoreboard.overview(judged)], wide=True)
    else:
        _print_group(source, judged[0], wide=wide, moves=moves, tradeoff=tradeoff)
    tell_unreadable(source, [one.metrics for one in judged])


def objects(
    source: SnapshotSource, judged: Sequence[JudgedGroup], *, tradeoff: bool = False
) -> Iterator[dict[str, Any]]:
    """Each group as an object, with what to do about its diagnosis, and its tradeoff where that was asked for."""
    from .. import sources
    from ..views.one_group import action_for
    from ..views.tradeoff import tradeoff_object

    for one in judged:
        more: dict[str, Any] = {"action": action_for(one.metrics)}
        if tradeoff:
            [selection] = sources.selected(source, one.advice.group)
            more |= tradeoff_object(source.settings, selection)
        yield one.to_json() | more


def _print_group(
    source: SnapshotSource, one: JudgedGroup, *, wide: bool, moves: bool, tradeoff: bool
) -> None:
    from .. import sources
    from ..views import one_group, scoreboard

    if wide:
        scoreboard.print_group(one)
        if not tradeoff:
            return
    [selection] = sources.selected(source, one.advice.group)
    if not wide:
        one_group.show_group(one, source.settings, selection, moves=moves)
    if tradeoff:
        from ..views.tradeoff import print_tradeoff

        print_tradeoff(source.settings, selection)
