"""
The ledger as a chain of hashes: each row contains the hash of the row before it.

Who changes a row must change all later ones. Who changes advice must change the row with its digest. So one hash that
was noted elsewhere shows whether everything before it is as it was.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby

from ..ports import LedgerEntry
from ..records import AdviceDigest, LedgerRow, row_of


class Misfit(enum.StrEnum):
    """What is wrong with a snapshot or row of the ledger."""

    ROW_MISSING = "row missing"
    ROW_CHANGED = "row changed"
    ORDER_CHANGED = "order changed"
    SNAPSHOT_MISSING = "snapshot missing"
    ADVICE_MISSING = "advice missing"
    ADVICE_ADDED = "advice added"
    ADVICE_CHANGED = "advice changed"
    NOT_IN_LEDGER = "not in ledger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    A snapshot that doesn't fit the ledger.

    Attributes:
        kind: What is wrong.
        cluster: Its cluster.
        snapshot_id: Its id.
        number: The number of its row; None without a row.
        expected: The expected number, hash or digest; None if there should be none.
        found: What was found; None if nothing was.
    """

    kind: Misfit
    cluster: str
    snapshot_id: str
    number: int | None = None
    expected: str | int | None = None
    found: str | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """
    The ledger of a cluster.

    Attributes:
        cluster: The cluster.
        rows: Number of rows.
        whole: Number of snapshots whose advice fits.
        lasting: Number of those of which repeated advice is deleted, and the rest fits.
        expired: Number of deleted snapshots, of which only the row fits.
        since: Start of the first snapshot; None without rows.
        head: Hash of the last row; None without rows.
        finding: The first snapshot that doesn't fit; None if all do.
    """

    cluster: str
    rows: int = 0
    whole: int = 0
    lasting: int = 0
    expired: int = 0
    since: datetime | None = None
    head: str | None = None
    finding: Finding | None = None


def hash_of(row: LedgerRow) -> str:
    """The hash of a row: SHA-256 of its other columns as JSON, with sorted keys, no blanks, and times in UTC."""
    columns = {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in row_of(row).items()
        if name != "hash"
    }
    text = json.dumps(columns, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def next_row(before: LedgerRow | None, advice: AdviceDigest, written_at: datetime) -> LedgerRow:
    """The row of a snapshot after the last row of its cluster; None if it is the first."""
    row = LedgerRow(
        **row_of(advice),
        number=before.number + 1 if before else 1,
        written_at=written_at,
        previous=before.hash if before else None,
        hash="",
    )
    return replace(row, hash=hash_of(row))


def verified(entries: Sequence[LedgerEntry]) -> list[Chain]:
    """
    The chain of each cluster, compared with the stored advice.

    Args:
        entries: By cluster, in the order of the ledger; snapshots that it lacks come last.
    """
    by_cluster = groupby(entries, key=lambda entry: _known(entry).cluster)
    return [_chain(cluster, list(own)) for cluster, own in by_cluster]


def _known(entry: LedgerEntry) -> AdviceDigest:
    known = entry.written or entry.found
    assert known is not None
    return known


def _chain(cluster: str, entries: Sequence[LedgerEntry]) -> Chain:
    written = [entry.written for entry in entries if entry.written is not None]
    kept = [entry for entry in entries if entry.written is not None and entry.found is not None]
    whole = sum(not entry.is_thinned for entry in kept)
    return Chain(
        cluster=cluster,
        rows=len(written),
        whole=whole,
        lasting=len(kept) - whole,
        expired=len(written) - len(kept),
        since=min((row.taken_at for row in written), default=None),
        head=written[-1].hash if written else None,
        finding=next(_findings(entries), None),
    )


def _findings(entries: Sequence[LedgerEntry]) -> Iterator[Finding]:
    """Every snapshot that doesn't fit, in the order of the ledger."""
    # snapshots are deleted oldest first
    oldest = min((entry.found.taken_at for entry in entries if entry.found), default=None)
    before: LedgerRow | None = None
    for entry in entries:
        row, found = entry.written, entry.found
        if row is None:
            yield _finding(Misfit.NOT_IN_LEDGER, _known(entry))
            continue
        yield from _of_row(row, before)
        if found is not None:
            yield from _of_advice(row, found, lasting=entry.is_thinned)
        elif oldest is not None and row.taken_at > oldest:
            yield _finding(Misfit.SNAPSHOT_MISSING, row)
        before = row


def _of_row(row: LedgerRow, before: LedgerRow | None) -> Iterator[Finding]:
    number = before.number + 1 if before else 1
    if row.number != number:
        yield _finding(Misfit.ROW_MISSING, row, number, row.number)
    if (digest := hash_of(row)) != row.hash:
        yield _finding(Misfit.ROW_CHANGED, row, row.hash, digest)
    if row.number == number and row.previous != (before.hash if before else None):
        yield _finding(Misfit.ORDER_CHANGED, row, before.hash if before else None, row.previous)


def _of_advice(row: LedgerRow, found: AdviceDigest, *, lasting: bool) -> Iterator[Finding]:
    expected, came = (
        (each.lasting_groups, each.lasting_digest) if lasting else (each.groups, each.digest)
        for each in (row, found)
    )
    if came[0] != expected[0]:
        less = came[0] < expected[0]
        kind = Misfit.ADVICE_MISSING if less else Misfit.ADVICE_ADDED
        yield _finding(kind, row, expected[0], came[0])
    elif came[1] != expected[1]:
        yield _finding(Misfit.ADVICE_CHANGED, row, expected[1], came[1])


def _finding(
    kind: Misfit,
    of: AdviceDigest,
    expected: str | int | None = None,
    found: str | int | None = None,
) -> Finding:
    number = of.number if isinstance(of, LedgerRow) else None
    return Finding(
        kind=kind,
        cluster=of.cluster,
        snapshot_id=of.snapshot_id,
        number=number,
        expected=expected,
        found=found,
    )
