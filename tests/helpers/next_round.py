"""A group at its next rebalance, when its members report what they own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenkeel.engine.assignors.interface import GroupSpec, rejoining, spec
from evenkeel.engine.model.arrays import NONE


def next_round(
    members: Mapping[str, Sequence[str]], topics: Mapping[str, int], held: Mapping[str, str]
) -> GroupSpec:
    """
    The group of these members, each of which owned what is written here, say `"t0-0 t1-1"`.

    Who held something and is no longer a member has left; who is a member and held nothing is new.
    """
    group = spec(members, topics)
    of = {pair: member for member, pairs in held.items() for pair in pairs.split()}
    names = [group.topics[t] for t in group.topic_of.tolist()]
    pairs = [f"{t}-{n}" for t, n in zip(names, group.number_of.tolist(), strict=True)]
    places = {member: place for place, member in enumerate(group.members)}
    owner = np.array([places.get(of.get(pair, ""), NONE) for pair in pairs], np.int32)
    return rejoining(replace(group, owner=owner), owner)
