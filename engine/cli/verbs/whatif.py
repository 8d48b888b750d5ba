"""`evenkeel whatif`: what would become of a group with other members, partitions, racks or capacities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..command_end import complain
from ..options import (
    AsJson,
    Bootstrap,
    ClusterName,
    Every,
    Group,
    Samples,
    Stored,
    Wide,
    epilog,
    option,
)

if TYPE_CHECKING:
    from ...followers.plan import Plan
    from ...pipeline.whatif import SeenGroup, TaskAnswer, WhatIfAnswer
    from ..sources import SnapshotSource
    from ..whatif_options import Options

EPILOG = epilog(
    [
        "evenkeel whatif --group orders-app --from cluster.recording --without app-3 --partitions a=24",
        "evenkeel whatif --group orders-app --bootstrap broker1:9092 --members +2 --rack new=a,b --strategy sticky",
        "evenkeel whatif --group orders-app --from lake --cluster prod --without-rack rack-a --capacity '*=300'",
        "evenkeel whatif --group payments-app --cluster prod --members +1 --rack new=a --set num.standby.replicas=1",
    ],
    [0, 1, 2, 3, 4],
    "Repeat and combine options. MEMBER is a member id, an instance id or a client id. --rack and --capacity also "
    "take shell patterns. New members are new-1, new-2 and so on, or `new` for all of them: --rack new=a,b places "
    "them in turn. The assumptions are listed below the tables.",
    "Without --strategy it shows the strategies that are available to the group, and plans. The current strategy is "
    "replayed for its next rebalance, others as fresh assignments. Forecasts need two snapshots and the capacity of "
    "members: measured while they were busy, configured as capacity_per_second, or given by --capacity. A group that "
    "follows a plan gets what its members (evenkeel-plan) would assign. --plan FILE names the plan.",
    "For Kafka Streams, members are instances with all their threads, and tasks move. Change settings with --threads "
    "and --set, by their Kafka names. --capacity and --plan don't apply.",
)


def whatif(
    group: Group,
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    members: Annotated[
        list[str] | None, option("--members +N|-N", "N members join or leave.")
    ] = None,
    without: Annotated[list[str] | None, option("--without MEMBER", "This member leaves.")] = None,
    without_rack: Annotated[
        list[str] | None,
        option("--without-rack RACK", "Lose a rack with its members and brokers."),
    ] = None,
    partitions: Annotated[
        list[str] | None, option("--partitions TOPIC=N", "Set the number of partitions of a topic.")
    ] = None,
    rack: Annotated[
        list[str] | None, option("--rack MEMBER=RACK", "Set the rack of a member.")
    ] = None,
    capacity: Annotated[
        list[str] | None,
        option("--capacity MEMBER=N", "Set the capacity of a member in records/s."),
    ] = None,
    threads: Annotated[
        list[str] | None,
        option("--threads INSTANCE=N", "Set the number of threads of a Kafka Streams instance."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        option(
            "--set SETTING=VALUE",
            "Set a Kafka Streams setting that affects assignment, e.g. num.standby.replicas=1.",
        ),
    ] = None,
    strategies: Annotated[
        list[str] | None,
        option(
            "--strategy NAME|PLACE",
            "Only this strategy, or your own: module:Class, FILE.py:Class or FILE.py; repeatable.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        option(
            "--plan FILE",
            "The plan that the group follows. Default: members keep what they own.",
        ),
    ] = None,
    samples: Samples = 3,
    every: Every = 5,
    wide: Wide = False,
    as_json: AsJson = False,
) -> None:
    """Forecast a group with other members, partitions, racks or capacities."""
    from ...pipeline.whatif import TaskAnswer
    from .. import sources, whatif_options
    from ..local_mode import WITH_FORECASTS, look
    from ..views import whatif as view
    from ..views import whatif_tasks as of_tasks
    from ..views.tables import emit

    named = whatif_options.named_of(strategies)
    follows = None if plan is None else whatif_options.plan_in(plan)
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
    source = sources.open_source(bootstrap, cluster, stored, samples=samples, every=every)

    def tell(seen: SeenGroup) -> None:
        reply = reply_of(source, seen, options, named, follows)
        complain(f"{WITH_FORECASTS}; cluster {source.cluster}, snapshot {source.newest}")
        if as_json:
            emit(objects(reply))
        elif isinstance(reply, TaskAnswer):
            of_tasks.print_answer(reply, wide=wide)
        else:
            view.print_answer(reply, wide=wide)

    sources.each_of(look(source, sources.select(source, group)), tell, apart=not as_json)


def reply_of(
    source: SnapshotSource,
    seen: SeenGroup,
    options: Options,
    named: Sequence[str] = (),
    follows: Plan | None = None,
) -> WhatIfAnswer | TaskAnswer:
    """
    What becomes of one group.

    Args:
        source: Where it was read.
        seen: It.
        options: What changes.
        named: The strategies; without them, those that are available and plans.
        follows: The plan that it follows.

    Raises:
        InputError: An option is not what it has to be for this group.
        Infeasible: The group cannot be forecast.
    """
    from ...messages.wording import member_names
    from ...pipeline.whatif import answer, answer_of_tasks, arriving, by_instances, day_of
    from .. import whatif_options

    whatif_options.possible(seen)
    whatif_options.suits(seen.group, named, follows, options)
    group = seen.group
    if not group.places_tasks:
        changes = whatif_options.changes_of(group, options)
        day = cache(lambda: day_of(source.lake, source.newest, group))
        return answer(source.settings, seen, changes, named, follows, day)
    by_instance = by_instances(group)
    measured = seen.measured_group.measured
    return answer_of_tasks(
        group,
        source.settings.rule(group.cluster, group.group).streams,
        whatif_options.task_changes_of(by_instance, options),
        whatif_options.settings_of(group, options.settings),
        member_names(by_instance.members),
        {} if measured is None else arriving(group, measured.production),
        named,
        () if measured is None else measured.restores,
    )


def objects(reply: WhatIfAnswer | TaskAnswer) -> Iterator[dict[str, Any]]:
    """One object for the group now, and one per strategy."""
    from ...pipeline.whatif import TaskAnswer
    from ..views import whatif, whatif_tasks

    if isinstance(reply, TaskAnswer):
        return whatif_tasks.objects(reply)
    return whatif.objects(reply)
