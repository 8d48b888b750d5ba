"""
Fleets: clusters with hundreds to thousands of groups, seeded and plausible, written as lake snapshots.

    ids = write_fleet(FileLake(folder), make_fleet(Shape(groups=1000)))

A fleet of N groups has N x 100 partitions whatever N, and the same mix at every size: sizes are quantiles of one
distribution, kinds and states come in fixed shares. So what grows between two fleets is their size alone. The same
shape gives the same bytes in every table; a manifest also says when it was written.

Offsets follow the physics of `tests.helpers.fluid`, in steps of five minutes where that has steps of 5 s, and nothing
happens to a group but what it began with. So there is no Python object per partition: 10,000 groups with 1,000,000
partitions and 13 snapshots take half a minute, which as single groups of `fluid` would take ten.

`groups` (what there is to choose, what each group is like), `layout` (topics, members, who owns what),
`moving` (offsets from snapshot to snapshot), `tables` (rows).
"""

from tests.helpers.fleet.groups import GIANT_FROM, Shape
from tests.helpers.fleet.layout import make_fleet
from tests.helpers.fleet.tables import snapshots, write_fleet

__all__ = [
    "GIANT_FROM",
    "Shape",
    "make_fleet",
    "snapshots",
    "write_fleet",
]
