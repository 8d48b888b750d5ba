"""
KIP-925's two strategies on a plain consumer group: a partition is a task, a topic a sub-topology, a member a client.

What stands in for the assignment that Streams has computed before it looks at racks: each member
gets as many partitions as it owns now, evened out where that is not even (`even_counts`), and a
partition counts as moved unless its present owner keeps it. So a group that is complete and even
keeps its counts, and a new one is dealt out evenly.

Read `group`, then `answer`.
"""

from .answer import DEFAULT_WEIGHTS, MinCost, Weights, min_cost
from .group import PlainGroup, plain_group

__all__ = ["DEFAULT_WEIGHTS", "MinCost", "PlainGroup", "Weights", "min_cost", "plain_group"]
