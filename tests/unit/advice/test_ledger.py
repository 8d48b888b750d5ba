"""The ledger as a chain: what is changed in a row or in the advice of a snapshot shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from evenkeel.engine.advice.ledger import Finding, Misfit, hash_of, next_row, verified
from evenkeel.engine.ports import LedgerEntry
from evenkeel.engine.records import AdviceDigest, LedgerRow

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)


def digest(number: int, cluster: str = "demo") -> AdviceDigest:
    """The advice of two groups, one of which changed."""
    return AdviceDigest(
        cluster=cluster,
        snapshot_id=f"{cluster}-{number}",
        taken_at=FIRST + timedelta(minutes=number),
        groups=2,
        digest=f"digest {number}",
        lasting_groups=1,
        lasting_digest=f"lasting {number}",
    )


def entries(count: int, cluster: str = "demo") -> list[LedgerEntry]:
    """A ledger of so many snapshots, beside the same advice."""
    last: LedgerRow | None = None
    made = []
    for number in range(count):
        found = digest(number, cluster)
        last = next_row(last, found, FIRST + timedelta(minutes=number, seconds=9))
        made.append(LedgerEntry(written=last, found=found, is_thinned=False))
    return made


def row(entry: LedgerEntry) -> LedgerRow:
    """The row, which is there."""
    assert entry.written is not None
    return entry.written


def changed(entry: LedgerEntry, **columns: Any) -> LedgerEntry:
    """With other columns of its row, whose hash is right again."""
    other = replace(row(entry), **columns)
    return replace(entry, written=replace(other, hash=hash_of(other)))


def finding(listed: list[LedgerEntry]) -> Finding | None:
    """The first snapshot of the only cluster that doesn't fit."""
    (chain,) = verified(listed)
    return chain.finding


def test_a_row_has_the_hash_of_the_one_before() -> None:
    """It follows from all other columns, in whatever time zone they are read."""
    first, second = (row(entry) for entry in entries(2))
    assert (first.number, first.previous) == (1, None)
    assert (second.number, second.previous) == (2, first.hash)
    for name, value in {"groups": 3, "previous": "x", "written_at": FIRST, "digest": "x"}.items():
        assert hash_of(replace(second, **{name: value})) != second.hash
    elsewhere = timezone(timedelta(hours=2))
    moved = replace(
        second,
        taken_at=second.taken_at.astimezone(elsewhere),
        written_at=second.written_at.astimezone(elsewhere),
    )
    assert hash_of(moved) == second.hash


def test_each_cluster_has_a_chain() -> None:
    """Nothing is changed; the newest hash stands for all of it."""
    listed = [*entries(3), *entries(2, "other")]
    demo, other = verified(listed)
    assert (demo.cluster, demo.rows, demo.whole, demo.finding) == ("demo", 3, 3, None)
    assert demo.head == row(listed[2]).hash
    assert (other.cluster, other.rows, other.since) == ("other", 2, FIRST)


def test_a_changed_row_breaks_the_chain_at_the_next_one() -> None:
    """Also if its own hash is computed again: that needs all later rows, and their newest hash is another then."""
    listed = entries(4)
    plain = replace(listed[1], written=replace(row(listed[1]), groups=5))
    wrong = finding([listed[0], plain, *listed[2:]])
    assert wrong is not None
    assert (wrong.kind, wrong.number, wrong.snapshot_id) == (Misfit.ROW_CHANGED, 2, "demo-1")
    forged = changed(listed[1], written_at=FIRST)
    wrong = finding([listed[0], forged, *listed[2:]])
    assert wrong is not None
    assert (wrong.kind, wrong.number) == (Misfit.ORDER_CHANGED, 3)
    assert (wrong.expected, wrong.found) == (row(forged).hash, row(listed[1]).hash)


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"groups": 1}, Misfit.ADVICE_MISSING),
        ({"groups": 3}, Misfit.ADVICE_ADDED),
        ({"digest": "x"}, Misfit.ADVICE_CHANGED),
        ({"lasting_digest": "x"}, None),
    ],
)
def test_advice_is_compared_as_a_whole_while_all_of_it_is_there(
    columns: dict[str, Any], kind: Misfit | None
) -> None:
    """Rows that are missing, added or changed."""
    first, second = entries(2)
    found = replace(digest(1), **columns)
    wrong = finding([first, replace(second, found=found)])
    assert (wrong and wrong.kind) == kind


def test_of_an_older_snapshot_only_what_lasts_is_compared() -> None:
    """Repeated advice is deleted, which is no finding."""
    first, second = entries(2)
    fewer = replace(digest(0), groups=1, digest="x")
    thinned = replace(first, found=fewer, is_thinned=True)
    (chain,) = verified([thinned, second])
    assert (chain.whole, chain.lasting, chain.finding) == (1, 1, None)
    wrong = finding([replace(thinned, found=replace(fewer, lasting_digest="x")), second])
    assert wrong is not None
    assert wrong.kind is Misfit.ADVICE_CHANGED


def test_snapshots_are_deleted_oldest_first() -> None:
    """One that is missing between others was removed; one that was never entered is named as well."""
    first, second, third = entries(3)
    gone = [replace(first, found=None), second, third]
    (chain,) = verified(gone)
    assert (chain.rows, chain.expired, chain.finding) == (3, 1, None)
    wrong = finding([first, replace(second, found=None), third])
    assert wrong is not None
    assert wrong.kind is Misfit.SNAPSHOT_MISSING
    unlisted = LedgerEntry(written=None, found=digest(9), is_thinned=False)
    wrong = finding([first, second, third, unlisted])
    assert wrong is not None
    assert (wrong.kind, wrong.snapshot_id, wrong.number) == (Misfit.NOT_IN_LEDGER, "demo-9", None)


def test_a_removed_row_leaves_a_gap() -> None:
    """The row after it says which number is missing."""
    first, _, third = entries(3)
    wrong = finding([first, third])
    assert wrong is not None
    assert (wrong.kind, wrong.number, wrong.expected) == (Misfit.ROW_MISSING, 3, 2)
