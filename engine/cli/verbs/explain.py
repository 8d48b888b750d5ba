"""`evenkeel explain`: why one partition goes to the member it goes to under a strategy, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from ...model.errors import InputError
from ...model.text import printable
from ..options import AsJson, Bootstrap, ClusterName, Group, Stored, argument, epilog, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...pipeline.explain import Explained

EPILOG = epilog(
    [
        "evenkeel explain orders-3 --group orders-app --strategy sticky --bootstrap broker1:9092",
        "evenkeel explain orders-3 --group orders-app --strategy balanced --from cluster.recording",
        "evenkeel explain payments-0 --group payments-app --strategy min_traffic --from lake --cluster prod --json",
    ],
    [0, 1, 2, 3, 4],
    "The steps are those of the strategy, in its order: share, order, rack, lag. If a strategy keeps earlier owners, "
    "they name the earlier owner. For Kafka Streams they lead to the task that reads the partition, and to its "
    "client.",
)


def explain(
    partition: Annotated[
        str, argument("PARTITION", "A partition of a subscribed topic, as topic-number.")
    ],
    group: Group,
    strategy: Annotated[
        str,
        option(
            "--strategy NAME",
            "The strategy: a name from `evenkeel advise`, your own (module:Class or FILE.py:Class), or live for the "
            "current assignment.",
        ),
    ],
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a strategy assigns a partition to its member."""
    from ...messages.wording import member_names, words
    from ...pipeline.explain import explain_group
    from .. import sources
    from ..custom import name_of
    from ..views.tables import emit, screen_width, tell

    topic, dash, number = partition.rpartition("-")
    if not dash or not topic or not number.isdecimal():
        raise InputError(
            f"{partition!r} is no partition.", fix="Name it as topic-number: orders-3."
        )
    name = name_of(strategy)
    source = sources.open_source(bootstrap, cluster, stored)
    only = sources.the_one(source, group, "an explanation")
    found = explain_group(source.settings, only, name, topic, int(number))
    application = found.application
    names: Mapping[str, str] = (
        dict(zip(application.app.clients, application.app.names, strict=True))
        if application
        else member_names(only.group.members)
    )
    steps = [
        words(replace(step, subjects=tuple(names.get(each, each) for each in step.subjects)))
        for step in found.steps
    ]
    if as_json:
        emit([_object(only.group.group, found, steps)])
        return
    numbered = [f"{place}. {step}" for place, step in enumerate(steps, 1)]
    width = screen_width()
    tell([printable(_verdict(only.group.group, found, names))], width=width)
    tell([f"  {printable(line)}" for line in numbered], 3, width=width)


def _verdict(group: str, found: Explained, names: Mapping[str, str]) -> str:
    what = f"{found.topic}-{found.partition} of {group} under {found.strategy}"
    if found.owner is None:
        return f"{what}: no member gets it"
    now = found.owner_now
    had = "it has it now" if now == found.owner else f"now: {names[now] if now else 'no member'}"
    rounds = f", after {found.rounds} rebalances" if found.rounds > 1 else ""
    return f"{what}: {names[found.owner]} ({had}){rounds}"


def _object(group: str, found: Explained, steps: list[str]) -> dict[str, object]:
    return {
        "group_id": group,
        "topic": found.topic,
        "partition": found.partition,
        "strategy": found.strategy,
        "owner": found.owner,
        "owner_now": found.owner_now,
        "rebalances": found.rounds,
        "steps": steps,
    }
