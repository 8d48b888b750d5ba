"""Fixtures of tests that page: a server, and what was asked of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.outbox import NOW
from tests.helpers.pages import Pages, PageServer, page_server


@pytest.fixture
def server() -> Iterator[PageServer]:
    """A server of which nothing was asked."""
    with page_server() as started:
        yield started


@pytest.fixture
def pages(server: PageServer) -> Pages:
    """What was asked of it; its clock stands."""
    server.pages.now = NOW
    return server.pages
