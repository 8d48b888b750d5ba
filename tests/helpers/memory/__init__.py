"""What lies outside, in memory, for unit tests: one fake for each port, held to the same promises as the real one."""

from tests.helpers.memory.cluster import MemoryCluster
from tests.helpers.memory.notifier import MemoryNotifier
from tests.helpers.memory.operation import MemoryLocks, MemoryPipelines, MemoryQueries
from tests.helpers.memory.results import MemoryAdvice, MemorySnapshots

__all__ = ["MemoryCluster", "MemoryHistory", "MemoryNotifier"]


class MemoryHistory(MemorySnapshots, MemoryAdvice, MemoryPipelines, MemoryLocks, MemoryQueries):
    """The port `History`: all of them over the same rows."""
