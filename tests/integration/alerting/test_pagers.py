"""Those who page, at the other end of an outbox on a real Postgres."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from tests.helpers.outbox import CLUSTER
from tests.helpers.pages import Pages, Trouble
from tests.unit.alerting.test_pagers import LIFE, actions, settings, wrong

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.pages_fixtures")

pytestmark = pytest.mark.postgres

__all__ = ["settings"]

KEY = f"{CLUSTER}/pay-in/s3"


@pytest.fixture
def heedful(settings: Settings) -> Settings:
    """Both programs take warnings, too."""
    webhooks = {
        name: webhook.model_copy(update={"severity": "warning"})
        for name, webhook in settings.webhooks.items()
    }
    return settings.model_copy(update={"webhooks": webhooks})


def test_the_life_of_an_incident(history: PostgresHistory, heedful: Settings, pages: Pages) -> None:
    """Trigger, trigger, resolve, of one key; nothing waits afterwards."""
    wrong(history, heedful, pages, *LIFE)
    assert actions(pages) == [("trigger", KEY), ("trigger", KEY), ("resolve", KEY)]
    assert [len(posted) for posted in pages.posted] == [1, 2, 1]
    assert history.pending_alerts() == []


TROUBLES = [
    Trouble(status=429),
    Trouble(status=500),
    Trouble(status=503, done=True),
    Trouble(drop=True),
    Trouble(drop=True, done=True),
]


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("calls", [1, 3, 9])
def test_whatever_goes_wrong_nothing_is_left_open(
    history: PostgresHistory,
    heedful: Settings,
    pages: Pages,
    trouble: Trouble,
    calls: int,
) -> None:
    """Of an incident that was worth a page the end is told, last, whatever became of the calls before."""
    pages.troubles += [trouble] * calls
    wrong(history, heedful, pages, *LIFE, *(None,) * 4)
    assert {key for _, key in actions(pages)} == {KEY}
    assert actions(pages)[-1] == ("resolve", KEY)
    assert pages.active(f'incident="{KEY}"') == []
    assert history.pending_alerts() == []
