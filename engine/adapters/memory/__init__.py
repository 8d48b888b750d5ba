"""
What lies outside, in memory: the history of a run that nobody keeps, and of unit tests.

The same tests hold it to the promises of the ports as the real one. A walk over many snapshots (`pipeline.pipeline`)
is the pipeline over such a history, and what is told goes no further than its outbox.
"""

from .notifier import MemoryNotifier
from .operation import MemoryLocks, MemoryPipelines
from .reports import MemoryReports
from .results import MemoryAdvice, MemorySnapshots
from .silences import MemorySilences

__all__ = ["MemoryHistory", "MemoryNotifier"]


class MemoryHistory(
    MemorySnapshots, MemoryAdvice, MemoryPipelines, MemorySilences, MemoryLocks, MemoryReports
):
    """What the steps leave in a history and read back (`History` but questions; `ReportHistory`)."""
