"""`evenkeel advise`: what each group should do about its assignment, and why, without any service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ...model.errors import InputError
from ...model.text import several
from ..command_end import complain
from ..options import (
    AsJson,
    Bootstrap,
    ClusterName,
    Every,
    GroupPattern,
    Samples,
    Stored,
    Strategies,
    epilog,
    option,
)

if TYPE_CHECKING:
    from ..judgement import JudgedGroup
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel advise --from cluster.recording",
        "evenkeel advise --from cluster.recording --group orders-app   # its scoreboard and moves",
        "evenkeel advise --bootstrap kafka-1:9092 --group orders-app   # now: three snapshots, five seconds apart",
        "evenkeel advise --from lake --cluster prod --json | jq 'select(.verdict == \"switch\")'",
    ],
    [0, 1, 2, 3, 4],
    "This is the plain form: no Spark, no validation, nothing stored, nobody told. Rates, statuses and confirmed "
    "advice need several snapshots; from one alone they are unknown. --frontier adds what KIP-925 weighs, partitions "
    "that cross racks against partitions that move: each line is the cheapest assignment for a range of weights, and "
    "together they are all of them, from the fewest moves to the least that crosses. Of a Kafka Streams application a "
    "line says traffic, moves and stores apart, and the settings that lead there stand below.",
)


def advise(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    group: GroupPattern = "*",
    samples: Samples = 3,
    every: Every = 5,
    strategies: Strategies = None,
    frontier: Annotated[
        bool,
        option(
            "--frontier",
            "Also show cross-rack traffic against moves for one group, as the two are weighed differently.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say for each group whether another assignment strategy pays, and why."""
    from ...messages.wording import moment
    from ...snapshots import split_snapshot_id
    from .. import sources
    from ..custom import include_all
    from ..judgement import PLAIN_FORM, judge
    from ..views import scoreboard
    from ..views.tables import emit, show
    from .lag import tell_unreadable

    include_all(strategies)
    source = sources.open_source(bootstrap, cluster, stored, samples=samples, every=every)
    judged = judge(source, sources.select(source, group))
    _, taken_at = split_snapshot_id(source.newest)
    looked_at = len(source.ids(source.settings.lookback + 1))
    complain(
        f"{PLAIN_FORM}; cluster {source.cluster}, {several(len(judged), 'group')} "
        f"at {moment(taken_at)}, from {several(looked_at, 'snapshot')}"
    )
    if frontier:
        _with_frontier(source, judged, as_json=as_json)
    elif as_json:
        emit(one.to_json() for one in judged)
    elif len(judged) == 1:
        scoreboard.print_group(judged[0])
    else:
        show([scoreboard.overview(judged)])
    tell_unreadable(source, [one.metrics for one in judged])


def _with_frontier(source: SnapshotSource, judged: Sequence[JudgedGroup], *, as_json: bool) -> None:
    """Each group's object with its frontier, or the scoreboard of one group and its frontier below."""
    from .. import sources
    from ..views import scoreboard
    from ..views.frontier import frontier_object, print_frontier
    from ..views.tables import emit

    if not as_json and len(judged) != 1:
        raise InputError(
            f"--frontier is for one group, here are {len(judged):,}.", fix="Name it with --group."
        )
    for one in judged:
        [selection] = sources.selected(source, one.advice.group)
        if as_json:
            emit([one.to_json() | frontier_object(source.settings, selection)])
        else:
            scoreboard.print_group(one)
            print_frontier(source.settings, selection)
