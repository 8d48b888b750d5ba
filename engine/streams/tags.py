"""
What keeps copies of a store apart: client tags (KIP-708), or racks taken for one (KIP-925, section D).

`rack.aware.assignment.tags` names the tags that count; a client without one of them has no value
there. When racks are to count as a tag, no tags are configured and every client has a rack, the one
tag is the rack. Kafka's factory knows that case, but its high-availability assignor never passes
the racks on (3.6 to trunk), so there it is dead code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.facts import Fact, note
from .model import Application
from .settings import TaskConfig

RACK = "rack"


@dataclass(frozen=True, kw_only=True)
class Apart:
    """
    The tags that count for standbys.

    Attributes:
        keys: Their names, in order; empty when copies may lie anywhere.
        value: (C, keys) each client's value as a number, NONE without.
        names: For each key, the values' names by number.
    """

    keys: tuple[str, ...]
    value: Indices
    names: tuple[tuple[str, ...], ...]

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """*value* as tuples."""
        return [tuple(row) for row in self.value.tolist()]

    def distinct(self, clients: Collection[int]) -> list[int]:
        """How many different values the clients have, for each key."""
        rows = [self.rows[client] for client in clients]
        return [len({row[k] for row in rows} - {NONE}) for k in range(len(self.keys))]

    def short(self, holders: Ints) -> Flags:
        """
        (N) whether copies lie on fewer values of a key than they could, given how many there are.

        A key that some client has no value for promises nothing, and is passed over.

        Args:
            holders: (N, any) the clients that have each task, NONE in free places.
        """
        copies = (holders != NONE).sum(axis=1)
        short = np.zeros(len(holders), np.bool_)
        for k, names in enumerate(self.names):
            if (self.value[:, k] == NONE).any():
                continue
            values = np.sort(np.append(self.value[:, k], np.int32(NONE))[holders], axis=1)
            new = np.diff(values, axis=1, prepend=np.int32(NONE)) != 0
            short |= new.sum(axis=1) < np.minimum(copies, len(names))
        return short

    def keeps(self, holders: Collection[int], source: int, destination: int) -> bool:
        """Whether a copy may go from *source* to *destination* with no fewer values among *holders*, for any key."""
        if not self.keys or self.rows[source] == self.rows[destination]:
            return True
        after = [client for client in holders if client != source] + [destination]
        before = self.distinct(holders)
        return all(a >= b for a, b in zip(self.distinct(after), before, strict=True))


def kept_apart(app: Application, config: TaskConfig) -> Apart:
    """The tags that count for this application, with the values that its clients have."""
    tags = client_tags(app, config)
    keys = (RACK,) if racks_are_tags(app, config) else tuple(dict.fromkeys(config.tags))
    columns, names = [], []
    for key in keys:
        values = sorted({one[key] for one in tags if key in one})
        number = {value: i for i, value in enumerate(values)}
        columns.append([number[one[key]] if key in one else NONE for one in tags])
        names.append(tuple(values))
    value = np.array(columns, np.int32).reshape(len(columns), len(app.clients)).T
    return Apart(keys=keys, value=value, names=tuple(names))


def client_tags(app: Application, config: TaskConfig) -> Sequence[Mapping[str, str]]:
    """The tags of each client, or its rack as the only one where racks are taken for tags."""
    if racks_are_tags(app, config):
        return [{RACK: app.racks[rack]} for rack in app.client_rack]
    return app.tags


def racks_are_tags(app: Application, config: TaskConfig) -> bool:
    """Whether the rack is the tag that counts."""
    return config.rack_as_tag and not config.tags and bool((app.client_rack != NONE).all())


def findings(app: Application, config: TaskConfig) -> list[Fact]:
    """
    What is to be said of racks and tags: which of the two decides, and where they disagree.

    The disagreement is the warning that KIP-925 promised (section D, option III) and Kafka never gives.
    """
    remarks = []
    if not config.rack_as_tag or not config.num_standby_replicas:
        pass
    elif racks_are_tags(app, config):
        remarks.append(note("racks_taken_for_tag"))
    elif config.tags:
        remarks.append(note("tags_instead_of_racks"))
    else:
        bare = [app.clients[c] for c in np.flatnonzero(app.client_rack == NONE)]
        remarks.append(note("racks_not_taken_for_tag", bare))
    return remarks + _conflict(app, config)


def _conflict(app: Application, config: TaskConfig) -> list[Fact]:
    racked = np.flatnonzero(app.client_rack != NONE)
    if not config.tags or not len(racked):
        return []
    if RACK not in config.tags:
        return [note("rack_not_among_tags", config.tags)]
    differ = [c for c in racked.tolist() if app.tags[c].get(RACK) != app.racks[app.client_rack[c]]]
    return [note("tag_differs_from_rack", [app.clients[c] for c in differ])] if differ else []
