"""The ledger: what was advised and when, so that a later change of it shows."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, Unit, column, record


@record
class AdviceDigest:
    """The stored advice of a snapshot as digests, with its moves, state changes, forecast checks and savings."""

    cluster: str = column("Configured name of the cluster.")
    snapshot_id: str = column("Id of the snapshot, which may be deleted by now.", head="Snapshot")
    taken_at: datetime = column("Start of the snapshot.")
    groups: Int32 = column("Number of groups with advice.", unit=Unit.GROUPS, at_least=0)
    digest: str = column("SHA-256 of the advice for all groups.")
    lasting_groups: Int32 = column(
        "Number of groups whose advice changed or had an outcome; other advice is deleted after some hours.",
        unit=Unit.GROUPS,
        at_least=0,
    )
    lasting_digest: str = column("SHA-256 of the advice for these groups.")


@record
class LedgerRow(AdviceDigest):
    """One row per snapshot with advice, in the order of storing; never changed or deleted."""

    number: int = column("Number of the row in its cluster, from 1.", at_least=1)
    written_at: datetime = column("Time when the advice was stored, by the clock of the database.")
    previous: str | None = column(
        "Hash of the row before; null for the first row.", default=None, none=True
    )
    hash: str = column("SHA-256 of the other columns, including the hash of the row before.")
