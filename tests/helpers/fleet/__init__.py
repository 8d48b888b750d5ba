"""
Fleets: clusters with hundreds to thousands of groups, seeded and plausible, written as lake snapshots.

    ids = write_fleet(FileLake(folder), make_fleet(Shape(groups=1000)))

A fleet of N groups has N x 100 partitions whatever N, and the same mix at every size: sizes are quantiles of one
distribution, kinds and states come in fixed shares. So what grows between two fleets is their size alone. The same
shape gives the same bytes in every table; a manifest also says when it was written.

`shape` (what there is to choose), `sizes` (partitions per group), `groups` (what each group is like), `layout` (topics,
members, who owns what), `moving` (offsets from snapshot to snapshot), `blobs` and `tables` (rows), `lake` (writing).
There is no Python object per partition: 10,000 groups with 1,000,000 partitions and 13 snapshots take about a minute.
"""

from tests.helpers.fleet.lake import snapshots, write_fleet
from tests.helpers.fleet.layout import Fleet, make_fleet
from tests.helpers.fleet.shape import GIANT_FROM, GIANT_MEMBERS, GIANT_PARTITIONS, MEAN, Shape

__all__ = [
    "GIANT_FROM",
    "GIANT_MEMBERS",
    "GIANT_PARTITIONS",
    "MEAN",
    "Fleet",
    "Shape",
    "make_fleet",
    "snapshots",
    "write_fleet",
]
