"""What lies outside, in memory, for unit tests: one fake for each port, held to the same promises as the real one."""

from tests.helpers.memory.backfills import MemoryBackfills
from tests.helpers.memory.cluster import MemoryCluster
from tests.helpers.memory.notifier import MemoryNotifier, SlowNotifier
from tests.helpers.memory.operation import MemoryLocks, MemoryPipelines, MemoryQueries
from tests.helpers.memory.results import MemoryAdvice, MemorySnapshots
from tests.helpers.memory.silences import MemorySilences

__all__ = ["MemoryCluster", "MemoryHistory", "MemoryNotifier", "SlowNotifier"]


class MemoryHistory(
    MemorySnapshots,
    MemoryAdvice,
    MemoryPipelines,
    MemorySilences,
    MemoryBackfills,
    MemoryLocks,
    MemoryQueries,
):
    """The port `History`: all of them over the same rows."""
