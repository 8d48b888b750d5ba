"""From the outbox to those who page, over real sockets: what they are told over the life of an incident."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from pydantic import SecretStr

from evenkeel.engine import wiring
from evenkeel.engine.config import ClusterSettings, Settings, Webhook
from evenkeel.engine.incidents.evaluation import Judged, Judgment
from evenkeel.engine.incidents.evaluation import Trouble as Wrong
from evenkeel.engine.messages.notifications import round_of
from evenkeel.engine.messages.outbox import deliver
from evenkeel.engine.messages.outbox_entries import queue_incidents
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import FailingStep, History
from tests.helpers.memory import MemoryNotifier
from tests.helpers.outbox import CLUSTER, NOW
from tests.helpers.pages import KEY, Pages, PageServer, Trouble
from tests.unit.messages.test_outbox import FaredHistory, unreachable, watched

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.helpers.pages_fixtures",)


@pytest.fixture
def settings(server: PageServer) -> Settings:
    """One cluster, and the server as both programs; what people read goes to the log."""
    url = SecretStr(server.url)
    return Settings(
        clusters={CLUSTER: ClusterSettings(bootstrap="b:9092")},
        webhooks={
            "oncall": Webhook(format="pagerduty", url=url, key=SecretStr(KEY)),
            "prometheus": Webhook(format="alertmanager", url=url),
        },
    )


def look(history: FaredHistory, settings: Settings, minutes: int, *failing: FailingStep) -> None:
    """See how the cluster fares some minutes later, and tell of it."""
    watched(history, *failing)
    queue_incidents(history, settings, NOW + timedelta(minutes=minutes))
    deliver(history, wiring.notifier(settings), settings)


def actions(pages: Pages) -> list[tuple[str, str]]:
    """What PagerDuty was told, of which alert."""
    return [(event["event_action"], event["dedup_key"]) for event in pages.events]


def test_a_cluster_that_cannot_be_read_pages_until_it_can(settings: Settings, pages: Pages) -> None:
    """Opened and closed once each, of one key, however often one looks."""
    history = FaredHistory()
    pages.now = NOW
    for minutes, failing in ((1, [unreachable()]), (5, [unreachable()]), (9, []), (12, [])):
        look(history, settings, minutes, *failing)
    key = f"{CLUSTER}/cluster unreachable/20260301T090100Z"
    assert actions(pages) == [("trigger", key), ("resolve", key)]
    opened, closed = pages.posted
    assert [alert["labels"] for alert in opened] == [alert["labels"] for alert in closed]
    assert opened[0]["labels"]["cause"] == "cluster unreachable"
    assert closed[0]["endsAt"] == "2026-03-01T09:09:00.000+00:00"


def wrong(
    history: History, settings: Settings, pages: Pages, *looks: Diagnosis | None, first: int = 1
) -> None:
    """What is wrong with a group, look by look, each told at once; what could not be told waits."""
    for number, cause in enumerate(looks, start=first):
        at = NOW + number * timedelta(minutes=5)
        pages.now, watch = at, history.incident_watch(CLUSTER)
        odd = Judged(
            group_id="pay-in",
            diagnosis=Diagnosis.UNKNOWN,
            troubles=(Wrong(kind=cause),) if cause else (),
        )
        judgment = Judgment(
            cluster=CLUSTER,
            snapshot_id=f"s{number}",
            at=at,
            earlier=watch.snapshot_id,
            listed=["pay-in"],
            odd={"pay-in": odd} if cause else {},
        )
        told = round_of(watch, judgment, settings, link="http://airflow.test/run")
        assert history.store_watch(
            CLUSTER, f"s{number}", at, told.courses, [], told.postings, before=watch.snapshot_id
        )
        with suppress(NotifierError):
            deliver(history, wiring.notifier(settings), settings)


LIFE = (
    None,
    None,
    *(Diagnosis.MEMBER_NOT_COMMITTING,) * 3,
    *(Diagnosis.NO_MEMBERS,) * 2,
    None,
    None,
    None,
)


def test_an_incident_that_gets_worse_is_one_alert_until_it_is_over(
    settings: Settings, pages: Pages
) -> None:
    """Trigger, trigger, resolve, of one key, the second more severe; the same in Alertmanager."""
    oncall = settings.webhooks["oncall"].model_copy(update={"severity": "warning"})
    prometheus = settings.webhooks["prometheus"].model_copy(update={"severity": "warning"})
    webhooks = {"oncall": oncall, "prometheus": prometheus}
    wrong(FaredHistory(), settings.model_copy(update={"webhooks": webhooks}), pages, *LIFE)
    key = f"{CLUSTER}/pay-in/s3"
    assert actions(pages) == [("trigger", key), ("trigger", key), ("resolve", key)]
    severities = [event["payload"]["severity"] for event in pages.events[:2]]
    assert severities == ["warning", "critical"]
    told = [
        [(a["labels"]["severity"], a["endsAt"] > "2026-03-02") for a in p] for p in pages.posted
    ]
    assert told == [
        [("warning", True)],
        [("critical", True), ("warning", False)],
        [("critical", False)],
    ]


def test_who_was_paged_hears_of_the_end(settings: Settings, pages: Pages) -> None:
    """Though the configuration gives the group to others by now."""
    history, open_looks = FaredHistory(), LIFE[:-3]
    wrong(history, settings, pages, *open_looks)
    narrowed = {
        name: webhook.model_copy(update={"groups": ("other-*",)})
        for name, webhook in settings.webhooks.items()
    }
    later = settings.model_copy(update={"webhooks": narrowed})
    wrong(history, later, pages, *LIFE[-3:], first=len(open_looks) + 1)
    key = f"{CLUSTER}/pay-in/s3"
    assert actions(pages) == [("trigger", key), ("resolve", key)]


def test_what_waits_for_a_webhook_that_is_gone_is_told_nobody(
    settings: Settings, pages: Pages, caplog: pytest.LogCaptureFixture
) -> None:
    """Least of all to a channel of people; the log says why."""
    history = FaredHistory()
    pages.troubles.append(Trouble(status=503))
    with pytest.raises(NotifierError):
        look(history, settings, 1, unreachable())
    without = settings.model_copy(update={"webhooks": {}})
    people = MemoryNotifier()
    assert deliver(history, people, without).sent == 0
    assert people.tried == []
    assert history.pending_alerts() == []
    assert (
        f"is no longer configured: dropped incident {CLUSTER}/cluster unreachable/" in caplog.text
    )


def test_an_opening_that_was_never_heard_gives_way_to_the_end(
    settings: Settings, pages: Pages
) -> None:
    """Nobody is woken by what is over."""
    history = FaredHistory()
    pages.troubles += [Trouble(status=429)] * 2
    with pytest.raises(NotifierError):
        look(history, settings, 1, unreachable())
    look(history, settings, 5)
    assert [action for action, _ in actions(pages)] == ["resolve"]
    [[ended]] = pages.posted
    assert ended["endsAt"] == "2026-03-01T09:05:00.000+00:00"


@pytest.mark.parametrize(
    ("trouble", "calls"),
    [
        (Trouble(status=429), 1),
        (Trouble(status=500), 9),
        (Trouble(status=503, done=True), 3),
        (Trouble(drop=True), 3),
        (Trouble(drop=True, done=True), 9),
    ],
)
def test_whatever_goes_wrong_nothing_is_left_open(
    settings: Settings, pages: Pages, trouble: Trouble, calls: int
) -> None:
    """Of an incident that was worth a page the end is told, last, whatever became of the calls before."""
    webhooks = {
        name: webhook.model_copy(update={"severity": "warning"})
        for name, webhook in settings.webhooks.items()
    }
    heedful, history = settings.model_copy(update={"webhooks": webhooks}), FaredHistory()
    pages.troubles += [trouble] * calls
    wrong(history, heedful, pages, *LIFE, *(None,) * 4)
    key = f"{CLUSTER}/pay-in/s3"
    assert {known for _, known in actions(pages)} == {key}
    assert actions(pages)[-1] == ("resolve", key)
    assert pages.active(f'incident="{key}"') == []
    assert history.pending_alerts() == []
