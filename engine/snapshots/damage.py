"""What no reading of a cluster says, looked for in tables from elsewhere before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..config import Settings
from ..model.columns import columns_of
from ..model.tables import MOMENT, Lists, Numbers, Table
from ..ports import Manifest
from .naming import snapshot_of
from .schemas import RECORDS

KEYS: Mapping[str, Sequence[str]] = {
    "brokers": ("node_id",),
    "groups": ("group_id",),
    "members": ("group_id", "member_id"),
    "partitions": ("topic", "partition"),
    "commits": ("group_id", "topic", "partition"),
}
"""What a row is of, in its snapshot: never null, and there once."""

OFFSETS = ("begin_offset", "end_offset", "last_stable_offset", "log_bytes")
MOST = 2**62
"""Numbers that are added up are so large at most, all of them together: half of what 64 bits hold."""

_LAST = 253_402_300_800_000
"""The end of the year 9999, in milliseconds: no later moment can be shown."""


def damage_of(manifests: Sequence[Manifest], tables: Mapping[str, Table]) -> str | None:
    """
    What is wrong first with snapshots, as a clause; None where nothing is.

    Args:
        manifests: Of the step `snapshot`.
        tables: The datasets of that step with the rows of all of them.
    """
    return next(_damage(manifests, tables), None)


def _damage(manifests: Sequence[Manifest], tables: Mapping[str, Table]) -> Iterator[str]:
    clusters: dict[str, str] = {}
    for manifest in manifests:
        if manifest.snapshot_id in clusters:
            yield f"snapshot {manifest.snapshot_id} is in it twice"
        # raises where times and problems are none
        snapshot = snapshot_of(manifest.snapshot_id, manifest.facts, {})
        clusters[manifest.snapshot_id] = snapshot.cluster
        if manifest.step != "snapshot" or manifest.cluster != snapshot.cluster:
            yield f"the manifest of snapshot {manifest.snapshot_id} is of something else"
        told = [*manifest.facts.get("problems", ()), *manifest.facts.get("notes", ())]
        if not all(isinstance(one, str) for one in told):
            yield f"the problems of snapshot {manifest.snapshot_id} are no texts"
        # raises where they are no rules
        Settings.model_construct(rules=()).remembering(manifest.facts.get("listings", ()))
    for dataset, table in tables.items():
        yield from (f"{dataset}: {why}" for why in _wrong(dataset, table))
        yield from _counts(dataset, table, manifests, clusters)


def _wrong(dataset: str, table: Table) -> Iterator[str]:
    for name in ("snapshot_id", "cluster", *KEYS[dataset]):
        # a group without a commit has a row that names no partition
        if table[name].null_count and not (dataset == "commits" and name in ("topic", "partition")):
            yield f"{name} is missing in {table[name].null_count:,} rows"
    for spec in columns_of(RECORDS["snapshot"][dataset]):
        column = table[spec.name]
        if isinstance(column, Lists) and column.entries.null_count:
            yield f"{spec.name} lists nothing where something must be"
        known = column.values[column.known] if isinstance(column, Numbers) else np.zeros(0)
        least = known.min().item() if len(known) else 0
        if spec.meaning.at_least is not None and least < spec.meaning.at_least:
            yield f"{spec.name} is {least}, it is {spec.meaning.at_least} at least"
        if column.kind == MOMENT and (least < 0 or known.max(initial=0) >= _LAST):
            yield f"{spec.name} is no moment between 1970 and 9999"
        if spec.name in OFFSETS and known.sum(dtype=np.float64) > MOST:
            yield f"{spec.name} is too large to be added up"
    if len(table.numbered("snapshot_id", *KEYS[dataset])[0]) < len(table):
        yield f"rows of the same {', '.join(KEYS[dataset])} are in one snapshot"


def _counts(
    dataset: str, table: Table, manifests: Sequence[Manifest], clusters: Mapping[str, str]
) -> Iterator[str]:
    """Whether the rows are those that the manifests speak of, each with the name of its cluster."""
    first, number = table.numbered("snapshot_id", "cluster")
    pairs = table.select(["snapshot_id", "cluster"]).take(first).to_pylist()
    found: dict[str, int] = {}
    for row, count in zip(pairs, np.bincount(number, minlength=len(first)).tolist(), strict=True):
        if clusters.get(row["snapshot_id"]) != row["cluster"]:
            yield f"{dataset}: rows are of {row['snapshot_id']} and cluster {row['cluster']}"
        found[row["snapshot_id"]] = count
    for manifest in manifests:
        there = found.get(manifest.snapshot_id, 0)
        if manifest.rows.get(dataset) != there:
            yield (
                f"{dataset}: snapshot {manifest.snapshot_id} has {there:,} rows, "
                f"its manifest says {manifest.rows.get(dataset)}"
            )
