"""`evenkeel elect`: which strategy a group elects, and how it would get to another one."""

from __future__ import annotations

from typing import Annotated

from ...model.errors import InputError
from ..command_end import complain
from ..options import AsJson, Bootstrap, ClusterName, Group, Stored, Wide, epilog, option

EPILOG = epilog(
    [
        "evenkeel elect --member c1=range,cooperative-sticky --member c2=range",
        "evenkeel elect --group orders-app --from cluster.recording --assignors range,cooperative-sticky",
        "evenkeel elect --group orders-app --bootstrap broker1:9092 --to cooperative-sticky   # restart by restart",
    ],
    [0, 1, 2, 3, 4],
    "Kafka doesn't expose which strategies members list. They come from --assignors, or from assignors in "
    "evenkeel.toml. Otherwise they are unknown, and so is the way to another strategy. Name strategies as in the "
    "protocol (range, roundrobin, sticky, cooperative-sticky) or by class.",
)


def elect(
    group: Group = "*",
    member: Annotated[
        list[str] | None,
        option(
            "--member ID=LIST",
            "A member of a hypothetical group and its list; repeat in join order.",
        ),
    ] = None,
    assignors: Annotated[
        str | None, option("--assignors LIST", "The list of every member, most preferred first.")
    ] = None,
    to: Annotated[
        str | None,
        option(
            "--to STRATEGY",
            "Also show the restarts that lead to this strategy, or to your own: module:Class or FILE.py:Class.",
        ),
    ] = None,
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    wide: Wide = False,
    as_json: AsJson = False,
) -> None:
    """Show which strategy a group elects, and the restarts that lead to another."""
    from ...snapshots.groups_with_past import groups_at
    from .. import election_source, sources
    from ..custom import is_place, name_of
    from ..views import elections
    from ..views.tables import emit

    to = name_of(to) if to and is_place(to) else to
    if member:
        if any((group != "*", assignors, bootstrap, cluster, stored)):
            raise InputError(
                "--member makes up a group of its own.", fix="Give it with --to and --json only."
            )
        held = [election_source.made_up(member, to)]
    else:
        source = sources.open_source(bootstrap, cluster, stored)
        wanted = sources.select(source, group)
        tell = sources.tell_left_out
        found = groups_at(source.lake, source.settings, source.newest, wanted, tell)
        for problem in sources.problems(source):
            complain(f"not read: {problem}")
        held = [
            election_source.held_by(one, source.settings, assignors, to)
            for one in sorted(found, key=lambda one: one.group)
        ]
    if as_json:
        emit(one.to_json() for one in held)
    else:
        elections.show_elections(held, wide=wide)
