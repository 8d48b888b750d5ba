"""`evenkeel elect`: which strategy a group elects, and how it would get to another one."""

from __future__ import annotations

from typing import Annotated

from ...model.errors import InputError
from ..command_end import complain
from ..options import AsJson, Bootstrap, ClusterName, Stored, Wide, argument, epilog, option

EPILOG = epilog(
    [
        "evenkeel elect --member c1=range,cooperative-sticky --member c2=range",
        "evenkeel elect orders-app --from cluster.recording --assignors range,cooperative-sticky",
        "evenkeel elect orders-app --bootstrap kafka-1:9092 --to cooperative-sticky   # restart by restart",
    ],
    [0, 1, 2, 3, 4],
    "What members list is not on the wire: it comes from --assignors, or from assignors in evenkeel.toml; from neither "
    "it is unknown, and so is what another strategy would find. Strategies are named as on the wire (range, "
    "roundrobin, sticky, cooperative-sticky) or by their classes.",
)


def elect(
    group: Annotated[
        str | None, argument("GROUP", "A group id or pattern; without it, all groups.")
    ] = None,
    member: Annotated[
        list[str] | None,
        option(
            "--member ID=LIST",
            "A member of a made-up group and its list; again for each, in the order they join.",
        ),
    ] = None,
    assignors: Annotated[
        str | None, option("--assignors LIST", "What every member lists, most preferred first.")
    ] = None,
    to: Annotated[
        str | None,
        option(
            "--to STRATEGY",
            "Also plan the way to this strategy; of your own: module:Class or FILE.py:Class.",
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
    from ..custom import name_of
    from ..views import elections
    from ..views.tables import emit

    to = name_of(to)
    if member:
        if any((group, assignors, bootstrap, cluster, stored)):
            raise InputError(
                "--member makes up a group of its own.", fix="Give it with --to and --json only."
            )
        held = [election_source.made_up(member, to)]
    else:
        source = sources.open_source(bootstrap, cluster, stored)
        wanted = sources.select(source, group or "*")
        found = groups_at(source.lake, source.settings, source.newest, wanted)
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
