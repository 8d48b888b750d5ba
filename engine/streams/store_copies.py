"""
Where the copies of each store stand, active one included, and whether all of them would be lost with one rack.

A store is what a stateful task keeps. Its copies are *together* where there are two or more and all stand in the same
place: that is what constraints 1 to 3 of KIP-925, section C, are to prevent. The same is asked of what runs now and of
what each strategy would give. Where an application keeps no standbys (`num.standby.replicas` is 0) every store is lost
with its instance by choice, and nothing is judged; a copy that only warms up counts as one where standbys are kept.

A client stands in its rack, as far as that is known: from `client.rack` or from configuration. Where `rack` is among
the tags that count (KIP-708), `client.tag.rack` says it of a client without one; where no rack is known at all, the
values of all tags that count together are the place (KIP-925, section D). A store with a copy whose place is not known
is not judged.

Cost: O(tasks + copies).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..config import StreamsSettings
from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.errors import EvenkeelError
from ..model.facts import Fact, FactKind, fact
from ..model.figures import Figures
from ..model.groups import GroupSnapshot
from ..model.states import Diagnosis
from .live import Running, running
from .standbys import RACK

Scored = TypeVar("Scored", bound=Figures)


@dataclass(frozen=True, kw_only=True, eq=False)
class StoreCopies:
    """
    What is known of the copies of N tasks' stores; a task without a store is in none of these.

    Attributes:
        judged: (N) stores with two copies or more, of all of which it is known where they stand.
        together: (N) those of them that one place has all copies of.
        unknown: (N) stores with two copies or more, of one of which that is not known.
        short: (N) stores without a copy beside the active one.
        doubled: (N) stores of which the client that runs them keeps a copy, too.
    """

    judged: Flags
    together: Flags
    unknown: Flags
    short: Flags
    doubled: Flags

    @property
    def counted(self) -> tuple[int | None, int | None]:
        """How many are together, and how many judged; None where nothing could be judged, and where none has copies."""
        judged = int(self.judged.sum())
        copied = judged or bool((self.unknown | self.short).any())
        return int(self.together.sum()) if judged else None, judged if copied else None

    def scored(self, figures: Scored) -> Scored:
        """Figures with what these say."""
        together, judged = self.counted
        return replace(figures, stores_in_one_rack=together, stores_judged=judged)


def store_copies(
    application: Running, owner: Indices, copies_start: Ints, copies: Indices
) -> StoreCopies:
    """
    Of one placement of an application.

    Args:
        application: It.
        owner: (N) the client of each task, NONE for nobody.
        copies_start, copies: Ragged, task -> clients that keep a copy.
    """
    kept = application.app.stateful & (application.config.num_standby_replicas > 0)
    beside, owned = np.diff(copies_start), np.flatnonzero(owner != NONE)
    copied = np.repeat(np.arange(len(owner)), beside)
    task, holder = np.concatenate([owned, copied]), np.concatenate([owner[owned], copies])
    place = places(application)[holder]
    least, most = np.full(len(owner), np.iinfo(np.int32).max), np.full(len(owner), NONE)
    np.minimum.at(least, task, place)
    np.maximum.at(most, task, place)
    several = kept & (beside + (owner != NONE) > 1)
    judged = several & (least != NONE)
    own = np.bincount(copied[copies == owner[copied]], minlength=len(owner)) > 0
    return StoreCopies(
        judged=judged,
        together=judged & (least == most),
        unknown=several & (least == NONE),
        short=kept & (beside == 0),
        doubled=kept & own,
    )


def copies_now(
    group: GroupSnapshot, settings: StreamsSettings | None
) -> tuple[Running, StoreCopies] | None:
    """The application behind a group and where its copies stand now; None where the group does not tell that."""
    try:
        live = running(group, settings)
    except EvenkeelError:
        return None
    return live, store_copies(live, live.owner, live.copies_start, live.copies)


def lost_with_one_rack(group: GroupSnapshot, settings: StreamsSettings | None) -> Fact | None:
    """
    That stores would be lost with one rack though clients stand in several, so that copies could be apart.

    None where none would, where nobody can tell, and while the group rebalances.
    """
    if not group.places_tasks or group.rebalancing or group.error is not None:
        return None
    tasks = [member.tasks for member in group.members]
    if not any(one and (one.standby or one.warmup) for one in tasks):
        return None
    found = copies_now(group, settings)
    if found is None:
        return None
    live, stores = found
    if not stores.together.any() or not in_several_places(live):
        return None
    return fact(
        FactKind.DIAGNOSIS,
        Diagnosis.STORE_IN_ONE_RACK.measure,
        named(live, stores.together),
        after=int(stores.together.sum()),
        bound=int(stores.judged.sum()),
    )


def named(application: Running, tasks: Flags) -> list[str]:
    """Ids of tasks."""
    return [application.app.tasks[task] for task in np.flatnonzero(tasks).tolist()]


def in_several_places(application: Running) -> bool:
    """Whether clients are known to stand in more than one place."""
    return len(set(places(application).tolist()) - {NONE}) > 1


def places(application: Running) -> Indices:
    """(C) where each client stands, as a number; NONE unknown."""
    tags, keys = application.app.tags, application.config.tags
    names: list[str | tuple[str, ...] | None] = [*known_racks(application)]
    if RACK in keys:
        names = [name or one.get(RACK) for name, one in zip(names, tags, strict=True)]
    elif keys and not any(names):
        names = [
            tuple(one[key] for key in keys) if one.keys() >= set(keys) else None for one in tags
        ]
    number = {name: n for n, name in enumerate(dict.fromkeys(names)) if name}
    return np.array([number[name] if name else NONE for name in names], np.int32)


def known_racks(application: Running) -> list[str | None]:
    """(C) the rack of each client as far as it is known, be it told to Kafka or not."""
    app = application.app
    return [None if rack == NONE else app.racks[rack] for rack in app.known_rack.tolist()]
