"""
Commits, then ends: as close together as the brokers let us.

Whatever is produced between the two looks like lag of every group. So when a broker had to be waited for, both are read
again: by then it is known to be silent, or its partitions and groups have moved.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...config import Filter
from ...model.facts import Fact, note
from .connection import Connection
from .groups import Commits, Group, fetch_commits, find_again
from .topics import Topics, read_ends

_TRIES = 3
_LATE_SECONDS = 1.0
"""How long brokers may be waited for between commits and ends."""


async def read_offsets(
    connection: Connection, groups: Mapping[str, Group], topics: Topics, admits: Filter
) -> tuple[Commits, list[Fact]]:
    """
    The commits of all groups and, in their rows, the ends of all partitions.

    Args:
        connection: The conversation.
        groups: The groups, by id.
        topics: The topics with their begins.
        admits: Which topics' commits are wanted.

    Returns:
        The commits, and a fact when they lie too far from the ends after all.
    """
    for number in range(_TRIES):
        if number:
            await find_again(connection, groups)
        waited, left = connection.waited, connection.seconds_left
        commits = Commits()  # those read before are not kept beside the new ones
        commits = await fetch_commits(connection, groups, admits)
        await read_ends(connection, topics)
        took = left - connection.seconds_left
        late = min(connection.waited - waited, took)  # several are waited for at once
        if late < _LATE_SECONDS:
            return commits, []
        if connection.seconds_left < 2 * took:
            break  # what has been read is worth more than a time that may be cut short
    return commits, [note("commits_before_ends", after=late, unit="s")]
