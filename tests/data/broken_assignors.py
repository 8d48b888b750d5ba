"""Custom strategies that each break one thing, for `evenkeel check-assignor` to find."""

import itertools

import numpy as np

from evenkeel.engine.assignors.interface import USUAL_PROMISES, Promise
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Assignment, Deployment
from evenkeel.engine.model.errors import Infeasible


class Deals:
    """Sound: the n-th partition of a topic goes to its n-th subscriber by id."""

    name = "deals"
    works_on = frozenset({"partitions"})
    needs = frozenset()
    deployment = Deployment.CLASS
    source = "a test"

    def assign(self, group):
        """What the others spoil."""
        owner = np.full(group.partition_count, NONE, np.int32)
        for topic, subscribers in enumerate(group.subscribers):
            ring = sorted(subscribers.tolist(), key=group.members.__getitem__)
            for number, partition in enumerate(group.partitions_of(topic)):
                owner[partition] = ring[number % len(ring)] if ring else NONE
        return Assignment(owner=owner)


class LeavesLongLags(Deals):
    """Leaves partitions with a lag of 7 or more to nobody."""

    def assign(self, group):
        """Breaks COMPLETE."""
        owner = super().assign(group).owner
        return Assignment(owner=np.where(group.lag.filled(0) >= 7, NONE, owner).astype(np.int32))


class GivesToStrangers(Deals):
    """Whoever has the first id owns everything that has an owner."""

    def assign(self, group):
        """Breaks SUBSCRIBED."""
        first = group.members.index(min(group.members, default=None)) if group.members else NONE
        owner = super().assign(group).owner
        return Assignment(owner=np.where(owner == NONE, NONE, first).astype(np.int32))


class ChangesItsMind(Deals):
    """Every other time the last partition has no owner."""

    promises = USUAL_PROMISES - {Promise.COMPLETE}

    def __init__(self):
        self.turns = itertools.cycle([False, True])

    def assign(self, group):
        """Breaks REPEATABLE."""
        owner = super().assign(group).owner
        owner[-1:] = NONE if next(self.turns) else owner[-1:]
        return Assignment(owner=owner)


class SortsItsInput(Deals):
    """Sorts the lags it was handed."""

    def assign(self, group):
        """Breaks UNTOUCHED."""
        group.lag.values.sort()
        return super().assign(group)


class TakesTheFirstListed(Deals):
    """The first listed subscriber of a topic gets all of it."""

    promises = USUAL_PROMISES

    def assign(self, group):
        """Breaks ORDER_FREE."""
        first = [s[0] if len(s) else NONE for s in group.subscribers]
        return Assignment(owner=np.array(first, np.int32)[group.topic_of])


class SharesTopicsBadly(Deals):
    """The first subscriber by id gets all of a topic, against what it promises."""

    promises = USUAL_PROMISES | {Promise.EVEN_TOPICS}

    def assign(self, group):
        """Breaks EVEN_TOPICS."""
        first = [min(s, key=group.members.__getitem__, default=NONE) for s in group.subscribers]
        return Assignment(owner=np.array(first, np.int32)[group.topic_of])


class SharesTheGroupBadly(Deals):
    """Even topic by topic only, against what it promises."""

    promises = USUAL_PROMISES | {Promise.EVEN_GROUP}


class Stumbles(Deals):
    """Looks up who shares a rack, and does not expect that anybody does."""

    def assign(self, group):
        """Gives no answer."""
        seen = {NONE: 0}
        for rack in group.member_rack.tolist():
            _note(seen, rack)
        return super().assign(group)


def _note(seen, rack):
    if seen.setdefault(rack, 0) and rack != NONE:
        raise LookupError(f"rack {rack} again")
    seen[rack] += 1


class TrustsClaims(Deals):
    """Marks what members say they own, also what no longer exists."""

    def assign(self, group):
        """Gives no answer."""
        for topic, number in zip(group.owned_topic, group.owned_partition, strict=True):
            range(int(np.diff(group.topic_start)[topic]))[int(number)]
        return super().assign(group)


class Forgets(Deals):
    """Answers nothing."""

    def assign(self, group):
        """Gives no answer."""


class Leaves(Deals):
    """Ends the program."""

    def assign(self, group):
        """Gives no answer."""
        raise SystemExit("bye")


class NeverLooks(Deals):
    """Says that it needs what members sent, and does not read it."""

    needs = frozenset({"user_data"})


class ChokesOnNothing(Deals):
    """Takes for granted that every member sent a weight, which its samples do not say."""

    needs = frozenset({"user_data"})
    sample_user_data = ({"weight": 1}, {})

    def assign(self, group):
        """Gives no answer."""
        for data in group.user_data:
            data["weight"]
        return super().assign(group)


class Refuses(Deals):
    """Cannot run on anything."""

    def assign(self, group):
        """Shows nothing."""
        raise Infeasible("refuses wants a moon.")


class Chatters(Deals):
    """Sound, but it prints."""

    def assign(self, group):
        """Into the answer, if it were let."""
        print("chatter")
        return super().assign(group)


class NeedsArguments(Deals):
    """Cannot be made without them."""

    def __init__(self, seed):
        self.seed = seed


class OddDeployment(Deals):
    """A deployment that is none."""

    deployment = "setting"


class OddPromises(Deals):
    """Promises nobody knows."""

    promises = frozenset({"world peace"})


class OddSamples(Deals):
    """What its members send is no mapping."""

    sample_user_data = "weight"


class Half:
    """Most of it is missing."""

    name = "half"


READY = Deals()


class Mute(Deals):
    """Raises when it is asked what it is."""

    @property
    def deployment(self):
        """Nobody knows."""
        raise ValueError("it depends")
