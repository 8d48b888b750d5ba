"""Silences as SQL sees them."""

from __future__ import annotations

import fnmatch
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.silences import as_regex
from evenkeel.engine.incidents.silences import quieting
from evenkeel.engine.model.moments import utc_now
from tests.helpers.history_rows import fill
from tests.helpers.incidents import CLUSTER, course, row
from tests.helpers.silenced import ack, silence

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

SIGNS = st.text(st.sampled_from("ab-]![*?^.\\$(){}|+é𝄞:=\n "), max_size=7)
MATCHES = "SELECT name ~ pattern FROM unnest(%s::text[], %s::text[]) AS pair (name, pattern)"


@pytest.fixture(scope="module")
def connection(module_database_url: str) -> Any:
    """One for all examples."""
    with psycopg.connect(module_database_url) as opened:
        yield opened


@given(st.lists(st.tuples(SIGNS, SIGNS), min_size=20, max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_pattern_means_in_sql_what_it_means_here(
    connection: psycopg.Connection, pairs: list[tuple[str, str]]
) -> None:
    """Whatever is in brackets, and whatever means something to a regular expression."""
    names = [name for name, _ in pairs for _ in pairs]
    patterns = [pattern for _ in pairs for _, pattern in pairs]
    rows = connection.execute(MATCHES, (names, [as_regex(each) for each in patterns])).fetchall()
    expected = [fnmatch.fnmatchcase(*pair) for pair in zip(names, patterns, strict=True)]
    different = [
        (*pair, matched)
        for pair, (matched,), right in zip(
            zip(names, patterns, strict=True), rows, expected, strict=True
        )
        if matched is not right
    ]
    assert different == []


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("[a-c]", "b"),
        ("[!a-c]", "d"),
        ("[c-a]", "b"),
        ("[!c-a]", "b"),
        ("[]a]", "]"),
        ("[!]a]", "x"),
        ("[a-b-d]", "-"),
        ("[\\]", "\\"),
        ("[[:a:]]", ":]"),
        ("*", "two\nlines"),
        ("orders.*", "orders.app"),
        ("orders.*", "ordersxapp"),
    ],
)
def test_patterns_that_are_easily_mistaken(
    connection: psycopg.Connection, pattern: str, name: str
) -> None:
    """Ranges without anything in them, brackets in brackets, and signs that mean more in SQL."""
    (row,) = connection.execute(MATCHES, ([name], [as_regex(pattern)])).fetchall()
    assert row[0] is fnmatch.fnmatchcase(name, pattern)


def test_an_open_incident_says_why_nothing_more_is_told_of_it(history: PostgresHistory) -> None:
    """As the pipeline has it: of every group what `quieting` says, by whom, why and until when."""
    now, hour = utc_now(), timedelta(hours=1)
    opened = {"a1": now - 2 * hour, "a2": now - 2 * hour, "b1": now, "b2": now - 2 * hour}
    courses = [course(name, opened_at=at) for name, at in opened.items()]
    shown = [row(each) for each in courses]
    assert history.store_watch(CLUSTER, "s0", now, courses, shown, [], before=None)
    span = {"starts_at": now - hour, "ends_at": now + hour}
    for each in (
        ack(groups="[ab]?", starts_at=now - hour, reason="all"),
        silence(groups="a2", reason="short", **span),
        silence(groups="a2", reason="long", **span | {"ends_at": now + 2 * hour}),
        silence(groups="*", cluster="other", **span),
        silence(groups="*", **span | {"ends_at": now - timedelta(minutes=1)}),
        silence(groups="*", starts_at=now + hour, ends_at=now + 2 * hour),
    ):
        history.add_silence(each)
    found = {
        row["group_id"]: (row["quiet"], row["quiet_reason"], row["quiet_until"], row["quiet_by"])
        for row in history.query("open_incidents")
    }
    assert {name: quiet[:2] for name, quiet in found.items()} == {
        "a1": ("ack", "all"),
        "a2": ("silence", "long"),
        "b1": (None, None),
        "b2": ("ack", "all"),
    }
    quiet = quieting(history.silences(now), (), CLUSTER, courses)
    for name, told in found.items():
        here = quiet(name, now)
        assert told == ((here.kind, here.reason, here.until, here.who) if here else (None,) * 4)


def test_silences_are_listed_with_what_they_keep_quiet(history: PostgresHistory) -> None:
    """What holds first, what is over last and without numbers of now; an ack counts what was open before it."""
    now, hour = utc_now(), timedelta(hours=1)
    fill(history, 0, "demo")
    span = {"starts_at": now - hour, "ends_at": now + hour}
    history.add_silence(silence(starts_at=now - 3 * hour, ends_at=now - hour))
    history.add_silence(silence(starts_at=now + hour, ends_at=now + 2 * hour, groups="*"))
    history.add_silence(ack(starts_at=now))
    history.add_silence(silence(cluster="other", **span))
    ended = history.add_silence(silence(**span))
    history.end_silence(ended, now - timedelta(minutes=1))
    listed = history.query("silences", cluster="demo")
    assert [
        (row["silence_id"], row["kind"], row["state"], row["covered_groups"]) for row in listed
    ] == [
        (3, "ack", "holds", 1),
        (2, "silence", "to come", 2),
        (5, "silence", "over", None),
        (1, "silence", "over", None),
    ]
    assert [row["silence_id"] for row in history.query("silences", hours=0)] == [3, 4, 2]
