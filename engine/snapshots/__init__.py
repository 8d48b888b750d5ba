"""
The lake's tables, and how the rows of a snapshot become `GroupSnapshot` values.

A snapshot is five tables: brokers, groups, members, partitions (of the cluster's topics) and commits (of groups).
Everything derived from it has a table of its own. One reader serves the command line and Spark, because both
hand it tables: the whole snapshot, or the rows of a single group.

`schemas` (the tables), `naming` (one reading of a cluster, its name and manifest), `arrays` (columns <-> arrays),
`cluster` (its partitions, indexed), `assemble` (rows -> a batch of groups).
"""

from .assemble import batch_of_tables, groups_of, stores_of
from .cluster import ClusterTables
from .naming import (
    facts_of,
    new_manifest,
    new_snapshot_id,
    problems_of,
    snapshot_of,
    split_snapshot_id,
)
from .partitions import rows_of_groups, topics_named
from .schemas import (
    CANDIDATES,
    METRICS,
    RECORDS,
    SCHEMA_VERSION,
    SNAPSHOT,
    STEPS,
    VALIDATION,
    picked,
    shaped,
    with_nulls,
)

__all__ = [
    "CANDIDATES",
    "METRICS",
    "RECORDS",
    "SCHEMA_VERSION",
    "SNAPSHOT",
    "STEPS",
    "VALIDATION",
    "ClusterTables",
    "batch_of_tables",
    "facts_of",
    "groups_of",
    "new_manifest",
    "new_snapshot_id",
    "picked",
    "problems_of",
    "rows_of_groups",
    "shaped",
    "snapshot_of",
    "split_snapshot_id",
    "stores_of",
    "topics_named",
    "with_nulls",
]
