"""
Which of the two sticky plans a group gets.

Source: `AbstractStickyAssignor.assignPartitions` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.sticky.constrained import constrained_plan
from evenkeel.engine.kit.sticky.general import general_plan
from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.kit.sticky.plan import Plan
from evenkeel.engine.kit.sticky.rack_info import sticky_racks
from evenkeel.engine.model import Ints


def sticky_plan(group: GroupSpec, past: Past) -> Plan:
    """
    What the sticky assignors decide.

    Raises:
        Infeasible: Kafka's class throws on this group; the message says what and why.
    """
    racks = sticky_racks(group, past)
    if alike(group, past.walk):
        return constrained_plan(group, past, racks)
    return general_plan(group, past, racks)


def alike(group: GroupSpec, walk: Ints) -> bool:
    """
    Whether Kafka takes all subscriptions for equal.

    The first member on its walk that names any topic sets the pattern; whoever comes later must name as many topics as
    the pattern has, all of them in it. So an empty subscription passes when it comes before the pattern, and one that
    names a topic twice may pass or not.

    >>> from evenkeel.engine.assignor import spec
    >>> group = spec({"a": ["t", "u"], "b": [], "c": ["u", "u"]}, {"t": 1})
    >>> alike(group, np.array([1, 0, 2])), alike(group, np.array([0, 1, 2]))
    (True, False)
    """
    counts = np.diff(group.subscription_start)
    named = np.flatnonzero(counts[walk])
    if not len(named):
        return True
    pattern = np.zeros(len(group.topics), np.bool_)
    pattern[group.subscribed(int(walk[named[0]]))] = True
    later = walk[named[0] + 1 :]
    if (counts[later] != pattern.sum()).any():
        return False
    compared = np.zeros(len(walk), np.bool_)
    compared[later] = True
    return bool(pattern[group.subscription_topic[np.repeat(compared, counts)]].all())
