"""
Interfaces of external systems, one small Protocol per use.

* Kafka: `Cluster`. Snapshot files: `Lake`. Chat programs and webhooks: `Notifier`.
* The history database, one port per use: `SnapshotHistory` (snapshots), `ResultHistory` (results of steps),
  `RollupHistory` (hours and days of groups), `AdviceHistory` (advice), `LedgerHistory` (its ledger), `Outbox` (pending
  alerts), `Incidents` (of groups and pipelines), `Silences`, `StepRuns`, `PipelineHistory` (health of each cluster's
  pipeline), `Locks`, `Queries` (named queries). `History` is all of them; `ReportHistory` reads the rows of a report.

A function takes the ports that it uses. `adapters/` implements them, and `adapters/memory` implements them in memory
for local runs, recordings and unit tests. The same tests check both.
"""

from .alerts import (
    CLOCKS_APART,
    Delivered,
    Incidents,
    IncidentWatch,
    Notifier,
    Outbox,
    PendingAlert,
    Posting,
)
from .cluster import Cluster
from .history import (
    AdviceHistory,
    AdvisedSnapshot,
    LedgerEntry,
    LedgerHistory,
    LeftBehind,
    PreviousAdvice,
    ResultHistory,
    ScoredAdvice,
    SnapshotHistory,
    WaitingSnapshot,
)
from .lake import ALL, Compacted, Home, Lake, LakeDay, LakeFile, Manifest, WrittenPart
from .operation import (
    ClusterFacts,
    FailingStep,
    History,
    Locks,
    PipelineHistory,
    Queries,
    StepRuns,
    ToldOutage,
)
from .reports import ReportedGroups, ReportHistory, StoredReport
from .rollups import ClusterDay, RollupHistory
from .served import ServedCluster, ServedGroup
from .silences import Silences

__all__ = [
    "ALL",
    "CLOCKS_APART",
    "AdviceHistory",
    "AdvisedSnapshot",
    "Cluster",
    "ClusterDay",
    "ClusterFacts",
    "Compacted",
    "Delivered",
    "FailingStep",
    "History",
    "Home",
    "IncidentWatch",
    "Incidents",
    "Lake",
    "LakeDay",
    "LakeFile",
    "LedgerEntry",
    "LedgerHistory",
    "LeftBehind",
    "Locks",
    "Manifest",
    "Notifier",
    "Outbox",
    "PendingAlert",
    "PipelineHistory",
    "Posting",
    "PreviousAdvice",
    "Queries",
    "ReportHistory",
    "ReportedGroups",
    "ResultHistory",
    "RollupHistory",
    "ScoredAdvice",
    "ServedCluster",
    "ServedGroup",
    "Silences",
    "SnapshotHistory",
    "StepRuns",
    "StoredReport",
    "ToldOutage",
    "WaitingSnapshot",
    "WrittenPart",
]
