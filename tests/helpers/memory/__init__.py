"""What lies outside, in memory, as unit tests need it: the adapter, and what only a test asks of it."""

from evenkeel.engine.adapters import memory
from evenkeel.engine.adapters.memory import MemoryNotifier
from tests.helpers.memory.cluster import MemoryCluster
from tests.helpers.memory.queries import MemoryQueries
from tests.helpers.memory.shelf import MemoryShelf
from tests.helpers.memory.slow_notifier import SlowNotifier

__all__ = ["MemoryCluster", "MemoryHistory", "MemoryNotifier", "MemoryShelf", "SlowNotifier"]


class MemoryHistory(memory.MemoryHistory, MemoryQueries):
    """The port `History`: all of them over the same rows."""
