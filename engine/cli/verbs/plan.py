"""`evenkeel plan`: a file that says which member of a group shall get which partitions, for followers to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...model.errors import InputError
from ...model.text import does, several
from ..command_end import complain
from ..options import Bootstrap, ClusterName, Group, Stored, epilog, option

if TYPE_CHECKING:
    from ...followers.plan import Plan
    from ...pipeline.plan import Planned

EPILOG = epilog(
    [
        "evenkeel plan --group orders-app --from cluster.recording --strategy balanced --out plan.json",
        "evenkeel plan --group orders-app --bootstrap broker1:9092 --strategy min_traffic --valid 2d > plan.json",
        "evenkeel plan --group orders-app --cluster prod --strategy balanced --record | kafka-console-producer.sh "
        "--bootstrap-server broker1:9092 --topic evenkeel-plans --property parse.key=true",
        "evenkeel plan --group orders-app --cluster prod --strategy live      # keep the current assignment",
    ],
    [0, 1, 2, 3, 4],
    "Prints or writes the plan; changes nothing. Members of a classic group that list the assignor evenkeel-plan "
    "(kafka-python and Java) follow it from the next rebalance: restart one member, or stop a static member for "
    "longer than its session.timeout.ms. Members are matched by group.instance.id, or else by client id and host. The "
    "fallback strategy assigns added partitions, partitions of members that leave, and a share for new members. After "
    "the plan expires it assigns everything. KIP-848 groups can't follow a plan, because the broker assigns.",
)


def plan(
    group: Group,
    strategy: Annotated[
        str,
        option(
            "--strategy NAME",
            "The strategy: a name from `evenkeel advise` (balanced, min_traffic, ...), your own (module:Class or "
            "FILE.py:Class), or live for the current assignment.",
        ),
    ],
    out: Annotated[
        Path | None, option("--out FILE", "The file to write. Default: standard output.")
    ] = None,
    valid: Annotated[str, option("--valid SPAN", "How long members follow it: 12h, 7d.")] = "7d",
    fallback: Annotated[
        str | None,
        option(
            "--fallback NAME",
            "The strategy for members and partitions that the plan lacks: cooperative-sticky, sticky, range or "
            "roundrobin. Default: the group's current strategy, if it is one of these.",
        ),
    ] = None,
    record: Annotated[
        bool,
        option(
            "--record",
            "Print one line, group id, tab, plan: a record for the topic evenkeel-plans.",
        ),
    ] = False,
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
) -> None:
    """Write an assignment plan for members that follow one."""
    from ...config.times import span
    from ...model.files import FILE
    from ...pipeline.plan import plan_group
    from .. import sources
    from ..custom import name_of
    from ..files import replacing
    from ..silence_options import read

    lasts = read("--valid", span, valid)
    name = name_of(strategy)
    source = sources.open_source(bootstrap, cluster, stored)
    only = sources.the_one(source, group, "a plan")
    planned = plan_group(source.settings, only, name, lasts=lasts, fallback=fallback)
    text = _record(planned.plan) if record else planned.plan.to_json()
    if out is None:
        typer.echo(text, nl=False)
    else:
        with replacing(out, FILE) as partial:  # a leader may be reading it
            partial.write_text(text, "utf-8")
    for line in _remarks(planned, out):
        complain(line)


def _record(plan: Plan) -> str:
    """Key and value on one line, as Kafka's console producer reads them."""
    if any(sign in plan.group for sign in "\t\n\r"):
        raise InputError(
            f"the id of group {plan.group!r} holds a tab or an end of line.",
            fix="Write the plan to a file, and have the members read that.",
        )
    return f"{plan.group}\t{' '.join(map(str.strip, plan.to_json().splitlines()))}\n"


def _remarks(planned: Planned, out: Path | None) -> list[str]:
    from ...messages.wording import moment

    plan = planned.plan
    count = sum(len(member.pairs) for member in plan.members)
    fresh = f", {planned.newly_owned:,} had no owner" if planned.newly_owned else ""
    lines = [
        f"{out or 'the plan'}: {plan.group} by {plan.strategy}, {several(count, 'partition')} to "
        f"{several(len(plan.members), 'member')}; "
        f"{does(planned.moves, 'partition', 'changes', 'change')} hands{fresh}; "
        f"followed until {moment(plan.valid_until)}, then {plan.fallback}"
    ]
    counts = "it counts from the first rebalance on in which all list evenkeel-plan"
    members = len(plan.members)
    if planned.dynamic:
        which = "" if planned.dynamic == members else " without group.instance.id"
        lines += [
            f"{counts}: restart a member{which}",
            f"{several(planned.dynamic, 'member')} of {members:,} are known by client id and host only: "
            "with another host or client id after a restart the plan does not know them; group.instance.id stays",
        ]
    else:
        lines.append(
            f"{counts}; all are static: one that is back within its session.timeout.ms brings no rebalance"
        )
    if planned.shared:
        names = ", ".join(planned.shared[:3]) + (" ..." if len(planned.shared) > 3 else "")
        lines.append(f"several members are {names}: which of them gets which part is left open")
    return lines
