"""The message as a value: frozen, stored as JSON and read back equal."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import pytest

from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.model.errors import InputError
from evenkeel.engine.model.message import (
    AlertMessage,
    Announcement,
    MessageKind,
    NewsKind,
    Section,
    Severity,
)
from evenkeel.engine.model.states import Diagnosis

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE,
    severity=Severity.INFO,
    at=AT,
    title="orders: 1 group would gain",
    summary="payments: switch to sticky.",
    sections=(Section(heading="payments", lines=("Why: lag.",), code=("t-0: a -> b",)),),
    more="All of it: SELECT 1",
    footer=("Snapshot s.",),
    announcements=(
        Announcement(
            group_id="payments",
            kind=NewsKind.SWITCH,
            strategy="sticky",
            at=AT,
            diagnosis=Diagnosis.SKEWED_LOAD,
        ),
    ),
)


def test_a_message_survives_storage() -> None:
    """What is stored as JSON text is read back as an equal value."""
    assert AlertMessage.from_json(json.loads(json.dumps(MESSAGE.to_json()))) == MESSAGE


def test_a_stored_message_may_carry_what_the_outbox_adds() -> None:
    """A further key beside the message's own, such as the moment of an attempt, is no obstacle."""
    assert AlertMessage.from_json(MESSAGE.to_json() | {"attempted_at": "2026-03-01"}) == MESSAGE


def test_a_message_cannot_be_changed() -> None:
    """A queued message stays what it was."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        MESSAGE.title = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "broken", [{}, {"kind": "poem"}, {"at": "yesterday"}, {"told": [{"x": 1}]}]
)
def test_what_is_no_message_is_refused_with_the_fix(broken: dict[str, object]) -> None:
    """A row that another version wrote is named, with what to do about it."""
    stored = MESSAGE.to_json() | broken if broken else {}
    with pytest.raises(InputError, match=r"cannot be read.*superseded"):
        AlertMessage.from_json(stored)


def test_a_message_needs_an_aware_moment() -> None:
    """A moment without a zone is a fault of the caller."""
    with pytest.raises(ValueError, match="time zone"):
        dataclasses.replace(MESSAGE, at=datetime(2026, 3, 1))


def test_plain_text_shows_everything_in_order() -> None:
    """Title, summary, sections, how to ask for more, and where it comes from."""
    assert plain_text(MESSAGE) == "\n\n".join(
        [
            "[i] orders: 1 group would gain",
            "payments: switch to sticky.",
            "payments\n  Why: lag.\n    t-0: a -> b",
            "All of it: SELECT 1",
            "-- Snapshot s.",
        ]
    )
