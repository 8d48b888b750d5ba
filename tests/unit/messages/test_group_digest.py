"""Many groups in one message: what it names, and that it fits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel import sql
from evenkeel.engine.adapters.slack.blocks import BODY_LIMIT, body
from evenkeel.engine.messages.group_digest import (
    FITTING,
    WORST,
    DigestKind,
    GroupDigest,
    digest_message,
)
from evenkeel.engine.messages.incident_message import LINES, Incident
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.model.message import MessageKind, Severity
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.group_incidents import FACTS, incident_of
from tests.stage.slack_workspace import as_seen, check_content


def incidents(count: int, name: str = "orders-{}", **columns: Any) -> list[Incident]:
    """Many groups, each with another cause in turn."""
    causes = list(FACTS)
    return [
        incident_of(causes[n % len(causes)], group=name.format(n), **columns) for n in range(count)
    ]


def test_a_few_groups_are_a_line_each() -> None:
    """Each with its number, how long and whose it is; the most severe first, and no thread."""
    digest = digest_message(incidents(12)[::2], DigestKind.OPENED)
    message, text = digest.message, plain_text(digest.message)
    assert (message.kind, message.severity) == (MessageKind.DIGEST, Severity.CRITICAL)
    assert message.title == "prod: 6 groups unhealthy"
    assert message.summary == "3 critical, 3 warning, most severe first."
    assert message.action == "Start with orders-0."
    assert "\norders-0: no active members, 25 min behind · open 25 min · payments\n" in text
    assert "\norders-6: orders-2 not committing for 13 min · open 25 min · payments\n" in text
    assert digest.named == tuple(f"orders-{n}" for n in (0, 2, 4, 6, 10, 8))
    assert digest.thread is None


def test_it_says_where_all_of_them_are() -> None:
    """The query it names is one of ours."""
    more = digest_message(incidents(3), DigestKind.FIRST).message.more
    assert more is not None
    assert more.split(": evenkeel query ")[1] in sql.queries()


def test_who_is_called_is_called_once() -> None:
    """Of many groups of few teams each team is called once; on the first look and at the end nobody is."""
    some = [*incidents(3), *incidents(3, "b-{}", mention="U012ABCDE"), *incidents(1, mention=None)]
    assert digest_message(some, DigestKind.OPENED).message.mention in (
        "S012ABCDEF U012ABCDE",
        "U012ABCDE S012ABCDEF",
    )
    assert digest_message(some, DigestKind.FIRST).message.mention is None
    assert digest_message(some, DigestKind.RESOLVED).message.mention is None


def test_hundreds_of_groups_are_one_message() -> None:
    """The worst with their numbers, the others by name under their cause, so that all of them have been told."""
    some = [
        incident_of(
            Diagnosis.NO_MEMBERS if n < 50 else Diagnosis.CATCHING_UP, group=f"payments-app-{n:03}"
        )
        for n in range(400)
    ]
    digest = digest_message(some, DigestKind.FIRST)
    text, seen = whole(digest)
    assert len(digest.named) == 400
    assert all(group in seen for group in digest.named)
    lines = text.count(" · open ")
    assert WORST <= lines <= FITTING + LINES
    assert (
        f"No active members, {50 - lines} more: payments-app-{lines:03}, payments-app-{lines + 1:03}, "
        in text
    )
    assert "Catching up, 350 more: payments-app-050" in text
    assert "snapshot." not in text


def whole(digest: GroupDigest) -> tuple[str, str]:
    """A digest and its thread as plain text, and as Slack shows them: it takes both."""
    text, seen = "", ""
    for message in filter(None, (digest.message, digest.thread)):
        posted = body(message, "k")
        check_content(posted)
        assert len(json.dumps({"channel": "C0KAFKA001", **posted})) < BODY_LIMIT
        text += plain_text(message)
        seen += as_seen(posted)
    return text, seen


def test_a_group_that_is_not_named_is_counted() -> None:
    """What comes with the next snapshot is a number; the most severe are those that are named."""
    digest = digest_message(incidents(1400), DigestKind.FIRST)
    assert 400 < len(digest.named) < 1400
    assert "orders-0" in digest.named
    assert "orders-13" not in digest.named
    left = f"and {1400 - len(digest.named):,} more groups: They follow with the next snapshot."
    assert left in whole(digest)[0]


ODD = ("2026-03-01 02:40 UTC " * 9, "<" * 200, "é" * 200, "\U0001f600" * 90)
"""Names that are longer as markup or as JSON than they are."""


@pytest.mark.parametrize("kind", list(DigestKind))
@given(
    name=st.one_of(st.text(max_size=200), st.sampled_from(ODD)),
    count=st.one_of(st.integers(1, 60), st.integers(60, 400)),
)
def test_whatever_it_names_is_seen(kind: DigestKind, name: str, count: int) -> None:
    """However long and odd the names are: Slack takes the message whole, and no group counts as told that is cut."""
    some = [incident_of(Diagnosis.CATCHING_UP, group=f"{n:03}{name}") for n in range(count)]
    digest = digest_message(some, kind)
    named, (_, seen) = digest.named, whole(digest)
    assert named
    assert "of this message" not in seen
    for group in named:
        assert any(f"{before}{group[:3]}" in seen for before in ("\n", ":* ", ", "))
    counted = f"and {count - len(named):,} more group"
    assert (counted in seen) == (len(named) < count)
