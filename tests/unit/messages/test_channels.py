"""Where a message goes, and to which page it leads, where the configuration says where pages are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from evenkeel.engine.config import ClusterSettings, Rule, Settings, Webhook
from evenkeel.engine.incidents.policy import EVERY_CLUSTER
from evenkeel.engine.messages.channels import LONGEST, is_named, receivers_of, with_links
from evenkeel.engine.messages.outbox import deliver
from evenkeel.engine.messages.outbox_entries import queue_advice
from evenkeel.engine.model.message import (
    AlertMessage,
    Announcement,
    MessageKind,
    NewsKind,
    Severity,
    Subject,
)
from evenkeel.engine.model.states import Diagnosis, IncidentKind
from evenkeel.engine.model.text import slug
from tests.helpers.memory import MemoryHistory, MemoryNotifier
from tests.helpers.outbox import CLUSTER, NOW, advice, take

SETTINGS = Settings(
    rules=(Rule(groups="pay-*", channel="#money"),),
    webhooks={
        "all": Webhook(format="alertmanager", severity="warning"),
        "money": Webhook(format="pagerduty", groups=("pay-*",)),
        "us": Webhook(format="pagerduty", clusters=("us",)),
    },
)


@pytest.mark.parametrize(
    ("cluster", "group", "severity", "expected"),
    [
        ("eu", "pay-in", Severity.CRITICAL, ["#money", "webhook:all", "webhook:money"]),
        ("eu", "pay-in", Severity.WARNING, ["#money", "webhook:all"]),
        ("eu", "ship", Severity.CRITICAL, ["#kafka", "webhook:all"]),
        ("us", "ship", Severity.CRITICAL, ["#kafka", "webhook:all", "webhook:us"]),
        ("us", None, Severity.CRITICAL, ["#kafka", "webhook:all", "webhook:us"]),
    ],
)
def test_an_incident_goes_to_its_channel_and_to_the_webhooks_that_take_it(
    cluster: str, group: str | None, severity: Severity, expected: list[str]
) -> None:
    """By the patterns of cluster and group and by severity; a whole cluster is of nobody who named groups."""
    assert receivers_of(SETTINGS, cluster, group, severity) == expected


def test_without_webhooks_only_the_channel_hears() -> None:
    """Paging has to be asked for."""
    assert receivers_of(Settings(), "eu", "pay-in", Severity.CRITICAL) == ["#kafka"]


def test_the_configuration_names_its_channels_and_webhooks() -> None:
    """What it does not name any more is not spoken to."""
    channels = ("#kafka", "#money", "webhook:us", "#gone", "webhook:gone")
    assert [is_named(SETTINGS, each) for each in channels] == [True, True, True, False, False]


# To which page it leads

HOME = "https://airflow.test/plugin/evenkeel/evenkeel"
KNOWN = Settings(
    report_url=f"{HOME}/", clusters={CLUSTER: ClusterSettings(bootstrap="broker:9092")}
)
MESSAGE = AlertMessage(
    kind=MessageKind.DIGEST, severity=Severity.WARNING, at=NOW, title="eu", summary="Trouble."
)


def about(group: str | None) -> AlertMessage:
    """A message about an incident of a group."""
    subject = Subject(
        key="k",
        cluster="eu",
        group_id=group,
        cause="stopped",
        severity=Severity.CRITICAL,
        owner=None,
        began_at=NOW,
    )
    return replace(MESSAGE, subject=subject)


def told(*groups: str) -> AlertMessage:
    """A message about advice for some groups."""
    news = (
        Announcement(group_id=each, kind=NewsKind.SWITCH, strategy="sticky", at=NOW)
        for each in groups
    )
    return replace(MESSAGE, kind=MessageKind.ADVICE, announcements=tuple(news))


@pytest.mark.parametrize(
    ("message", "cluster", "place"),
    [
        (about("orders"), "eu", "groups?cluster=eu&group=orders"),
        (about(None), "eu", "?cluster=eu"),
        (about(None), EVERY_CLUSTER, ""),
        (told("orders"), "eu", "groups?cluster=eu&group=orders"),
        (told("orders", "payments"), "eu", "?cluster=eu"),
        (MESSAGE, "eu", "?cluster=eu"),
    ],
)
def test_a_message_leads_to_what_it_is_about(
    message: AlertMessage, cluster: str, place: str
) -> None:
    """The page of the one group, else that of the cluster, else where all clusters are."""
    assert with_links(message, cluster, KNOWN).report == f"{HOME}/{place}"


@pytest.mark.parametrize("name", ["100%/a&group=b#c", "<script>grüße +1", "x\n|y>"])
def test_a_name_reaches_the_page_as_it_is(name: str) -> None:
    """Whatever a group is called is one value of the query, and no sign of it is markup."""
    address = with_links(about(name), "eu", KNOWN).report or ""
    assert parse_qs(urlsplit(address).query) == {"cluster": ["eu"], "group": [name]}
    assert set(address).isdisjoint('<>|"\n ')


def test_a_name_too_long_for_a_link_leads_to_its_cluster() -> None:
    """An address stays one that a chat shows as a link."""
    assert with_links(about("g" * LONGEST), "eu", KNOWN).report == f"{HOME}/?cluster=eu"


def test_where_no_page_is_known_nothing_is_linked() -> None:
    """Without an address of the pages a message is what it was."""
    assert with_links(about("orders"), "eu", Settings()) == about("orders")


PAGES = Path(__file__).parents[3] / "docs" / "diagnoses"
RUNBOOKS = "https://docs.test/evenkeel/diagnoses"


def advised(diagnosis: Diagnosis | None) -> AlertMessage:
    """A message about advice for a group of that diagnosis."""
    [news] = told("orders").announcements
    return replace(
        MESSAGE, kind=MessageKind.ADVICE, announcements=(replace(news, diagnosis=diagnosis),)
    )


def caused(by: Diagnosis | IncidentKind) -> AlertMessage:
    """A message about an incident of a group, or of a pipeline."""
    message = about("orders" if isinstance(by, Diagnosis) else None)
    assert message.subject is not None
    return replace(message, subject=replace(message.subject, cause=by.value))


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (caused(Diagnosis.STORE_IN_ONE_RACK), "store-in-one-rack/"),
        (caused(IncidentKind.STEP_FAILED), "pipeline/#step-failed"),
        (advised(Diagnosis.SKEWED_LOAD), "skewed-load/"),
        (MESSAGE, ""),
    ],
)
def test_a_message_leads_to_the_page_about_its_diagnosis(message: AlertMessage, place: str) -> None:
    """Of an incident and of advice that page, of a digest the list of all; the address may end in a slash."""
    for end in ("", "/"):
        settings = Settings(runbook_url=f"{RUNBOOKS}{end}")
        assert with_links(message, "eu", settings).runbook == f"{RUNBOOKS}/{place}"


def test_a_message_about_no_diagnosis_has_no_page_about_one() -> None:
    """Advice for a healthy group, or for several, and a silence."""
    several = (advised(None), advised(Diagnosis.HEALTHY), replace(MESSAGE, kind=MessageKind.QUIET))
    settings = Settings(runbook_url=RUNBOOKS)
    assert {with_links(each, "eu", settings).runbook for each in several} == {None}


@pytest.mark.parametrize("cause", [each for each in Diagnosis if each is not Diagnosis.HEALTHY])
def test_each_diagnosis_has_its_page(cause: Diagnosis) -> None:
    """Whatever opens an incident of a group can be looked up."""
    assert (PAGES / f"{slug(cause)}.md").is_file()
    assert f"({slug(cause)}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", IncidentKind)
def test_each_trouble_of_a_pipeline_has_its_heading(kind: IncidentKind) -> None:
    """The page about pipelines has the heading to which a message leads."""
    page = PAGES.parents[1] / "docs/diagnoses/pipeline.md"
    text = page.read_text(encoding="utf-8")
    headings = re.findall("^##+ (.+)$", text, re.MULTILINE)
    assert slug(kind) in [slug(each) for each in headings]


def test_what_is_delivered_has_its_page() -> None:
    """What was queued without an address gets it where it is delivered."""
    history, notifier = MemoryHistory(), MemoryNotifier()
    queue_advice(history, Settings(), take(history, "s1", advice("a/b")))
    deliver(history, notifier, KNOWN)
    [(_, _, sent)] = notifier.sent
    assert sent.report == f"{HOME}/groups?cluster={CLUSTER}&group=a%2Fb"
