"""`evenkeel tasks`: the tasks of a Kafka Streams application, now and under each rack strategy."""

from __future__ import annotations

from ...model.command import command_in_text
from ...model.errors import Infeasible
from ...model.text import printable
from ..options import AsJson, Bootstrap, ClusterName, Group, Stored, Wide, epilog

EPILOG = epilog(
    [
        "evenkeel tasks --group payments-app --bootstrap broker1:9092",
        "evenkeel tasks --group streams-classic --from cluster.recording",
        "evenkeel tasks --group payments-app --from lake --cluster prod --json",
    ],
    [0, 1, 2, 3, 4],
    "A Kafka Streams application assigns tasks to its clients, one client per process. The tables show the current "
    "tasks and racks, and where each rack.aware.assignment.strategy (KIP-925) would place them after all copies have "
    "caught up. Kafka doesn't expose every setting of the application. The assumptions are listed below the tables. "
    "To replace them, set streams = {...} under [[rules]] in evenkeel.toml.",
)


def tasks(
    group: Group,
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    wide: Wide = False,
    as_json: AsJson = False,
) -> None:
    """Show the tasks of a Kafka Streams application under each strategy."""
    import numpy as np

    from ...advice import blocked
    from ...advice.tasks import racks_found
    from ...assignors.interface import spec_of
    from ...messages.wording import look_again, words
    from ...model.arrays import Column
    from ...snapshots.groups_with_past import GroupWithPast
    from ...streams.compare import outcomes, present, presumed
    from ...streams.live import running
    from .. import sources
    from ..views import tasks as views
    from ..views.tables import emit

    source = sources.open_source(bootstrap, cluster, stored)

    def tell(selection: GroupWithPast) -> None:
        group = selection.group.group
        if not selection.group.places_tasks:
            raise Infeasible(
                f"group {group} is no Kafka Streams application: its members are assigned partitions.",
                fix=f"Look at it with `{command_in_text('evenkeel advise --group {}', group)}`.",
            )
        stuck = blocked(selection.group)
        why = selection.withheld or (stuck and words(stuck))
        if why is not None:
            fix = look_again(selection.group)
            raise Infeasible(f"the tasks of group {group} cannot be shown: {why}.", fix=fix)
        rule = source.settings.rule(selection.group.cluster, group)
        live = running(selection.group, rule.streams)
        replayed = outcomes(live)
        application, every = presumed(live, replayed), [present(live), *replayed]
        names = [printable(name) for name in application.app.names]
        nothing = Column.unknown(len(selection.group.partitions))
        spec = spec_of(selection.group, nothing, np.full(len(nothing), np.nan))
        found = racks_found(selection.group, spec, application)
        if as_json:
            emit([views.to_object(group, application, every, names, found)])
        else:
            views.show_application(group, application, every, names, found, wide=wide)

    sources.each_of(sources.selected(source, group), tell, apart=not as_json)
