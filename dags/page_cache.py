"""Pages that are made in threads of their own, and kept for a moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

SECONDS = 15.0
"""How long a page is kept: many who look at once read the history once."""

PATIENCE = 30.0
"""So many seconds somebody waits for a page: what stands between a browser and Airflow often ends it after a minute."""

MOST = 64
"""As many are kept and being made at most."""

THREADS = 4
"""As many are made at once. Not Airflow's own threads: a history that hangs holds up nothing else of it."""

Page = tuple[int, str]
"""A status of HTTP and a document."""

Asked = tuple[str | None, str | None]
"""A cluster and a group."""

Maker = Callable[[str | None, str | None], Page]
"""Makes the page of a group, of a cluster (the group is None), or of what there is (both are None)."""


@dataclass(kw_only=True, eq=False)
class PageCache:
    """What was made of late, and what is being made: who asks for the same meanwhile gets the same."""

    make: Maker
    patience: float = PATIENCE
    clock: Callable[[], float] = time.monotonic
    _pages: dict[Asked, asyncio.Future[Page]] = field(default_factory=dict)
    _until: dict[Asked, float] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, thread_name_prefix="evenkeel-page")
    )

    async def get(self, cluster: str | None, group: str | None) -> Page | None:
        """
        A page that is not older than `SECONDS`; one that tells of trouble is told to those who wait for it only.

        None: it is not made yet; it goes on being made for who asks again, or is begun then.
        """
        key, now = (cluster, group), self.clock()
        for old in [one for one, until in self._until.items() if until <= now]:
            self._forget(old)
        page = self._pages.get(key) or self._begin(key)
        if page is None:
            return None
        # who goes away, or has waited for long enough, takes it from nobody else
        done, _ = await asyncio.wait({page}, timeout=self.patience)
        return page.result() if done else None

    def _begin(self, key: Asked) -> asyncio.Future[Page] | None:
        """None while as many as are kept are all being made: of a history that hangs no more is asked."""
        if len(self._pages) >= MOST:
            if not self._until:
                return None
            self._forget(next(iter(self._until)))
        page = asyncio.get_running_loop().run_in_executor(self._pool, self.make, *key)
        self._pages[key] = page
        page.add_done_callback(lambda made: self._keep(key, made))
        return page

    def _keep(self, key: Asked, made: asyncio.Future[Page]) -> None:
        if self._pages.get(key) is not made:
            return
        if made.cancelled() or made.exception() or made.result()[0] != 200:
            self._forget(key)
        else:
            self._until[key] = self.clock() + SECONDS

    def _forget(self, key: Asked) -> None:
        self._pages.pop(key, None)
        self._until.pop(key, None)
