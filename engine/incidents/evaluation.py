"""What one snapshot says of groups: what is wrong with them, or that nothing is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..model.facts import Fact
from ..model.groups import WatchOf
from ..model.states import Diagnosis, TroubleKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """
    One thing that is wrong with a group in a snapshot, or with the pipeline of a cluster at a moment.

    Attributes:
        kind: What.
        facts: With names and numbers.
        known: Of a pipeline, what is known about it by name: JSON-able, moments as ISO texts.
        amount: How bad it is, comparable from snapshot to snapshot, more is worse: seconds behind, records lost; None
            unknown, or as bad as it is long.
        since: When it began, as far as this snapshot tells: when the oldest commit that stands still was made, say;
            None: no earlier than this snapshot.
    """

    kind: TroubleKind
    facts: tuple[Fact, ...] = ()
    known: Mapping[str, Any] = field(default_factory=dict)
    amount: float | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """
    What a snapshot says of one group, or the facts of one thing that may be wrong with a pipeline.

    Attributes:
        group_id: The group; None of a pipeline.
        diagnosis: What is the matter with it; unknown of a pipeline.
        troubles: All that somebody may be woken for, in the order of `Diagnosis`: the first is the diagnosis, or says
            how bad that is.
        known: Whether it could be judged; where it could not, what is among the troubles holds, that it is unreadable
            too, and what is not among them means nothing.
        recovering: Whether it has nothing of all that and is not back within its objective either, less the hysteresis:
            it neither gets worse nor is it over.
        gone: Of a group that the snapshot is the first not to list any more, what it had.
        changed: What arrives and what members do, where the oldest snapshots that are looked back on have it otherwise.
    """

    group_id: str | None = None
    diagnosis: Diagnosis = Diagnosis.UNKNOWN
    troubles: tuple[Trouble, ...] = ()
    known: bool = True
    recovering: bool = False
    gone: Fact | None = None
    changed: tuple[Fact, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgment:
    """
    What a snapshot says of the groups of a cluster, or its facts at a moment of its pipeline.

    Attributes:
        cluster: Configured name of the cluster.
        snapshot_id: The snapshot; of a pipeline the moment, as a name.
        at: When its reading ended; of a pipeline the moment.
        earlier: The newest snapshot before it that can be trusted; None where there is none.
        listed: The groups that it has; of a pipeline all that may be wrong with one.
        odd: Those that are not plainly well, and those that are gone and missed; all other groups are well, or gone and
            nobody misses them. Of a pipeline, by its kind, what is wrong with it or cannot be said to be over.
        of: What is judged.
    """

    cluster: str
    snapshot_id: str
    at: datetime
    earlier: str | None
    listed: Collection[str]
    odd: Mapping[str, Judged]
    of: WatchOf = WatchOf.GROUPS
