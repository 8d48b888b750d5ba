"""The one command that comes next, as it can be copied into a shell."""

from __future__ import annotations

import shlex

from ..model.states import SECONDS_BEHIND, Diagnosis, TroubleKind

LONGEST = 100
"""Characters of a group's name that a command spells out."""


def next_command(cluster: str, group: str, cause: TroubleKind, good_snapshot_id: str | None) -> str:
    """
    What to run to see more.

    Args:
        cluster: Configured name of the cluster.
        group: The group.
        cause: What is wrong with it.
        good_snapshot_id: The last snapshot in which it was well; None where none is known.

    >>> next_command("eu", "orders", Diagnosis.NO_MEMBERS, None)
    'evenkeel lag --cluster eu --group orders'
    >>> next_command("eu", "it's $HOME", Diagnosis.CATCHING_UP, None)
    'evenkeel advise --from lake --cluster eu --group \\'it\\'"\\'"\\'s $HOME\\''
    """
    if cause is Diagnosis.UNKNOWN:
        return f"evenkeel doctor --cluster {cluster}"
    if cause is Diagnosis.REBALANCING and good_snapshot_id is not None:
        return f"evenkeel diff --cluster {cluster} --since {good_snapshot_id} -- {_quoted(group)}"
    # with the capacity of members, and what another assignment brings
    verb = "advise --from lake" if cause in SECONDS_BEHIND else "lag"
    # with an equals sign a name that begins with a hyphen is no option
    option = f"--group={_quoted(group)}" if group.startswith("-") else f"--group {_quoted(group)}"
    return f"evenkeel {verb} --cluster {cluster} {option}"


def _quoted(group: str) -> str:
    """
    A group's name for a shell; as a pattern where it has characters that do not survive a chat, or too many.

    >>> _quoted("orders-app"), _quoted("a`b\\nc"), _quoted("x" * 101) == shlex.quote("x" * 100 + "*")
    ('orders-app', "'a?b?c'", True)
    """
    safe = "".join(sign if sign.isprintable() and sign != "`" else "?" for sign in group)
    if len(safe) > LONGEST:
        return shlex.quote(_as_pattern(safe[:LONGEST]) + "*")
    return shlex.quote(_as_pattern(safe) if safe != group else group)


def _as_pattern(name: str) -> str:
    """Signs of a pattern stand for any one character."""
    return "".join("?" if sign in "*[]" else sign for sign in name)
