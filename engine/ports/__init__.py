"""
What lies outside, one small Protocol for each thing that is asked of it.

* Kafka: `Cluster`. Snapshot files: `Lake`. Where people read messages: `Notifier`.
* The history in Postgres, one port per use: `SnapshotHistory` (which snapshots there are), `ResultHistory` (what the
  steps found in them), `RollupHistory` (hours and days of groups), `AdviceHistory` (what was advised), `Outbox` (alerts
  on their way), `Incidents` (of groups and pipelines), `Silences` (for which groups nobody is woken), `StepRuns`
  (how steps ended), `PipelineHistory` (how each cluster's pipeline fares), `Locks`, `Queries` (the user's questions).
  `History` is all of them: one database, one address; beside it `ReportHistory` reads what a report shows.

A function asks for the ports it uses. `adapters/` holds the real ones and, in `adapters/memory`, those of a run that
nobody keeps, a walk over a recording or a unit test; the same tests hold both to what is promised here.
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
    LeftBehind,
    PreviousAdvice,
    ResultHistory,
    ScoredAdvice,
    SnapshotHistory,
    WaitingSnapshot,
)
from .lake import ALL, Compacted, Lake, LakeDay, LakeFile, Manifest, WrittenPart
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
    "IncidentWatch",
    "Incidents",
    "Lake",
    "LakeDay",
    "LakeFile",
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
    "Silences",
    "SnapshotHistory",
    "StepRuns",
    "StoredReport",
    "ToldOutage",
    "WaitingSnapshot",
    "WrittenPart",
]
