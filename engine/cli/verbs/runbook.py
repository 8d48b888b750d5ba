"""`evenkeel runbook`: the steps that switch a group to a strategy, and the rollback; it changes nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ...model.errors import Infeasible
from ..command_end import complain
from ..options import AsJson, Bootstrap, ClusterName, Group, Stored, epilog, option

if TYPE_CHECKING:
    from ...pipeline.rollout import Runbook
    from ...snapshots.groups_with_past import GroupWithPast
    from ..sources import SnapshotSource

EPILOG = epilog(
    [
        "evenkeel runbook --group orders-app --from cluster.recording                       # the recommended strategy",
        "evenkeel runbook --group orders-app --cluster prod --strategy cooperative-sticky",
        "evenkeel runbook --group orders-app --bootstrap broker1:9092 --strategy uniform    # from classic to KIP-848",
        "evenkeel runbook --group orders-app --cluster prod --strategy balanced --json",
    ],
    [0, 1, 2, 3, 4],
    "Prints only; changes nothing. It shows settings for Java, Spring, librdkafka (Python, Go, .NET, Node) and "
    "kafka-python. Kafka doesn't expose which library a member uses, so it shows all of them unless client ids "
    "identify it. Set assignors in evenkeel.toml to what members list now. Without it you get the steps that are safe "
    "for any list.",
)


def runbook(
    group: Group,
    strategy: Annotated[
        str | None,
        option(
            "--strategy NAME", "The strategy. Default: the one that `evenkeel advise` recommends."
        ),
    ] = None,
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Print the steps, checks and rollback for switching a group to a strategy."""
    from .. import sources
    from ..custom import name_of
    from ..views.runbook import runbook_object, show_runbook
    from ..views.tables import emit

    name = name_of(strategy) if strategy else None
    source = sources.open_source(
        bootstrap, cluster, stored, samples=1 if name else 3, every=0 if name else 5
    )
    steps = steps_of(source, group, name)
    if as_json:
        emit([runbook_object(steps)])
    else:
        show_runbook(steps)


def steps_of(source: SnapshotSource, group: str, strategy: str | None) -> Runbook:
    """
    The steps that switch the one group of that name or pattern.

    Args:
        source: Where the group is read.
        group: Its name, or a pattern.
        strategy: Its name; None is the one that is advised.

    Raises:
        NothingFound: There is no such group.
        InputError: There are several, or no such strategy.
        Infeasible: Nothing is advised, or no steps lead there.
    """
    from ...pipeline.rollout import runbook_of
    from .. import sources

    only = sources.the_one(source, group, "a runbook")
    return runbook_of(source.settings, only, strategy or _advised(source, only))


def _advised(source: SnapshotSource, only: GroupWithPast) -> str:
    from ...advice import blocked
    from ...messages.wording import because
    from ...model.states import GroupType
    from .. import sources
    from ..local_mode import judge
    from ..views.one_group import action_for

    (judged,) = judge(source, sources.select(source, only.group.group))
    advice = judged.advice
    if advice.strategy is None:
        why = because(advice.facts)
        takes_one = blocked(only.group) is None and only.group.type is not GroupType.STREAMS
        fixes = [
            action_for(judged.metrics),
            "Name a strategy with --strategy." if takes_one else None,
        ]
        raise Infeasible(
            f"nothing is advised for group {advice.group}: {why}.",
            fix=" ".join(filter(None, fixes)) or None,
        )
    complain(f"advised: {advice.strategy}")
    return advice.strategy
