"""
What lies outside, one small Protocol for each thing that is asked of it.

* Kafka: `Cluster`. Snapshot files: `Lake`. Where people read messages: `Notifier`.
* The history in Postgres, one port per use: `SnapshotHistory` (which snapshots there are), `ResultHistory` (what the
  steps found in them), `AdviceHistory` (what was advised), `Outbox` (alerts on their way), `Incidents`, `StepRuns` (how
  steps ended), `PipelineHistory` (how each cluster's pipeline fares), `Locks`, `Queries` (the user's questions).
  `History` is all of them: one database, one address.

A function asks for the ports it uses. `adapters/` holds the real ones, `tests/helpers/memory/` those of unit tests; the
same tests hold both to what is promised here.
"""

from evenkeel.engine.ports.alerts import (
    Delivered,
    Incidents,
    Notifier,
    Outbox,
    PendingAlert,
)
from evenkeel.engine.ports.cluster import Cluster
from evenkeel.engine.ports.history import (
    AdviceHistory,
    AdvisedSnapshot,
    LeftBehind,
    PreviousAdvice,
    ResultHistory,
    ScoredAdvice,
    SnapshotHistory,
    WaitingSnapshot,
)
from evenkeel.engine.ports.lake import (
    ALL,
    Compacted,
    Lake,
    LakeDay,
    LakeFile,
    Manifest,
    WrittenPart,
)
from evenkeel.engine.ports.operation import (
    ClusterFacts,
    FailingStep,
    History,
    Locks,
    PipelineHistory,
    Queries,
    StepRuns,
)

__all__ = [
    "ALL",
    "AdviceHistory",
    "AdvisedSnapshot",
    "Cluster",
    "ClusterFacts",
    "Compacted",
    "Delivered",
    "FailingStep",
    "History",
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
    "PreviousAdvice",
    "Queries",
    "ResultHistory",
    "ScoredAdvice",
    "SnapshotHistory",
    "StepRuns",
    "WaitingSnapshot",
    "WrittenPart",
]
