"""Pages, rendered in separate threads and cached for some seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

SECONDS = 15.0
"""Lifetime of a cached page in seconds, so that many viewers cause one read of the history database."""

PATIENCE = 30.0
"""Maximum seconds to wait for a page: proxies often close a request after a minute."""

MOST = 64
"""Maximum number of pages that are cached or being rendered."""

THREADS = 4
"""Number of rendering threads. They are separate, so that a slow history database doesn't block Airflow."""

Page = tuple[int, str]
"""An HTTP status and a document."""

Asked = tuple[str | None, str | None]
"""A cluster and a group."""

Maker = Callable[[str | None, str | None], Page]
"""Renders the page of a group, of a cluster (the group is None), or the overview (both are None)."""


@dataclass(kw_only=True, eq=False)
class PageCache:
    """The recent pages and those being rendered; requests for the same page share it."""

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
        A page that is not older than `SECONDS`; error pages are not cached.

        None if it is not ready yet; rendering continues for the next request, or starts then.
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
        """None if the maximum number of pages is being rendered, as with a slow history database."""
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
