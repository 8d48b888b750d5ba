"""
What lies outside, in memory: the history of a run that nobody keeps, and of unit tests.

The same tests hold it to the promises of the ports as the real one. A walk over many snapshots (`steps.pipeline`)
is the pipeline over such a history, and what is told goes no further than its outbox.
"""

from evenkeel.engine.adapters.memory.notifier import MemoryNotifier
from evenkeel.engine.adapters.memory.operation import MemoryLocks, MemoryPipelines
from evenkeel.engine.adapters.memory.reports import MemoryReports
from evenkeel.engine.adapters.memory.results import MemoryAdvice, MemorySnapshots
from evenkeel.engine.adapters.memory.silences import MemorySilences

__all__ = ["MemoryHistory", "MemoryNotifier"]


class MemoryHistory(
    MemorySnapshots, MemoryAdvice, MemoryPipelines, MemorySilences, MemoryLocks, MemoryReports
):
    """What the steps leave in a history and read back (`History` but questions; `ReportHistory`)."""
