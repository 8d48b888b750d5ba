"""A message as Slack blocks: within every limit, nothing from a name taken for markup."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.slack.blocks import BODY_LIMIT, EVENT_TYPE, FALLBACK_LIMIT, body
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity
from tests.stage.slack_workspace import check_content

MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE,
    severity=Severity.INFO,
    at=datetime(2026, 3, 1, 9, 0, tzinfo=UTC),
    title="orders: 1 group would gain",
    summary="payments: switch to sticky.",
    sections=(Section(heading="payments", lines=("Why: lag.",), code=("t-0: a -> b",)),),
    more="All of it: SELECT 1",
    footer=("Snapshot s.",),
)


def texts(posted: dict[str, Any]) -> list[str]:
    """The texts of the blocks, in order."""
    found = []
    for block in posted["blocks"]:
        parts = block.get("elements") or [block.get("text")]
        found += [part["text"] for part in parts if part]
    return found


def test_a_message_becomes_header_sections_and_context() -> None:
    """Title, summary and sections follow each other, then how to ask for more and the source."""
    posted = body(MESSAGE, "advice 1")
    assert [b["type"] for b in posted["blocks"]] == [
        "header",
        "section",
        "divider",
        "section",
        "context",
    ]
    assert texts(posted) == [
        ":scales: orders: 1 group would gain",
        "payments: switch to sticky.",
        "*payments*\nWhy: lag.\n```t-0: a -&gt; b```",
        "All of it: SELECT 1",
        "Snapshot s.",
    ]


def test_the_fallback_stands_alone() -> None:
    """A notification without blocks tells title and summary."""
    assert body(MESSAGE, "k")["text"] == "orders: 1 group would gain: payments: switch to sticky."


def test_the_action_is_bold_and_survives_in_the_fallback() -> None:
    """The one thing to do is bold behind the summary, and on a lock screen whatever else is cut."""
    posted = body(replace(MESSAGE, summary="x" * 900, action="Restart *it* <!here>."), "k")
    check_content(posted)
    assert texts(posted)[1].endswith(" *Restart ∗it∗ &lt;!here&gt;.*")
    assert posted["text"].endswith("… Restart *it* &lt;!here&gt;.")
    assert len(posted["text"]) == FALLBACK_LIMIT


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "since 2026-03-01 02:40 UTC (25 min)",
            "since <!date^1772332800^{date_short_pretty} {time}|2026-03-01 02:40 UTC> (25 min)",
        ),
        (
            "2026-03-01 02:40:30 UTC",
            "<!date^1772332830^{date_short_pretty} {time}|2026-03-01 02:40:30 UTC>",
        ),
        ("2026-13-41 25:61 UTC", "2026-13-41 25:61 UTC"),
        ("12026-03-01 02:40 UTCx", "12026-03-01 02:40 UTCx"),
    ],
)
def test_a_moment_is_shown_in_local_time(text: str, shown: str) -> None:
    """Of a moment Slack gets its token, with UTC for whoever cannot show it; what is no moment stays text."""
    posted = body(replace(MESSAGE, summary=text), "k")
    check_content(posted)
    assert texts(posted)[1] == shown
    assert text in posted["text"]


def test_a_single_command_stands_on_its_own_line() -> None:
    """In a brief message a command without prose needs no heading, and a name in it ends no code."""
    section = Section(heading="Next", code=("evenkeel lag --group 'a`<b>'",))
    brief = replace(MESSAGE, kind=MessageKind.DIGEST, sections=(section,))
    posted = body(brief, "k")
    check_content(posted)
    assert texts(posted)[1].splitlines()[1] == "`evenkeel lag --group 'a'&lt;b&gt;'`"


def test_the_key_is_in_the_metadata() -> None:
    """A message can be found again by our own id."""
    metadata = body(MESSAGE, "advice 1")["metadata"]
    assert metadata["event_type"] == EVENT_TYPE
    assert metadata["event_payload"]["key"] == "advice 1"


@pytest.mark.parametrize("name", ["<!channel>", "<@U1>", "a & b", "<https://x|y>"])
def test_a_name_mentions_and_links_nobody(name: str) -> None:
    """Whatever a group is called, Slack shows its characters and follows none of them."""
    section = Section(heading=name, lines=(f"group {name}",), code=(name,))
    posted = body(replace(MESSAGE, summary=name, sections=(section,), footer=(name,)), "k")
    # The header is plain text, where nothing is markup.
    marked = "".join([*texts(posted)[1:], posted["text"]])
    assert "<" not in marked
    assert ">" not in marked
    assert marked.count("&") == marked.count("&amp;") + marked.count("&lt;") + marked.count("&gt;")


def test_a_name_ends_no_bold_and_no_code() -> None:
    """Asterisks in a heading and backticks anywhere leave bold and code as they were meant."""
    section = Section(heading="*x*", lines=("group ```rm```",), code=("```rm```",))
    text = texts(body(replace(MESSAGE, sections=(section,)), "k"))[2]
    assert text.count("*") == 2
    assert text.count("```") == 2
    assert text.endswith("```")


def test_what_does_not_fit_is_counted() -> None:
    """Sections that do not fit are left out from the end, and their number is told."""
    many = tuple(
        Section(heading=f"group {n}", lines=("word " * 100,), code=("x",)) for n in range(100)
    )
    posted = body(replace(MESSAGE, sections=many), "k")
    shown = sum(text.startswith("*group") for text in texts(posted))
    assert 10 < shown < 24
    assert f"_{100 - shown} more parts of this message do not fit into it._" in texts(posted)
    assert texts(posted)[-2:] == ["All of it: SELECT 1", "Snapshot s."]


def test_many_small_sections_stay_within_fifty_blocks() -> None:
    """The number of blocks is a limit of its own."""
    many = tuple(Section(heading=str(n)) for n in range(60))
    assert len(body(replace(MESSAGE, sections=many), "k")["blocks"]) <= 50


def test_many_notes_stay_within_one_context() -> None:
    """Slack takes ten elements in a context; how to ask for more is among those that stay."""
    posted = body(replace(MESSAGE, footer=tuple(f"note {n}" for n in range(20))), "k")
    check_content(posted)
    assert texts(posted)[3] == "All of it: SELECT 1"


def test_a_long_section_keeps_its_code_block_closed() -> None:
    """Cut lines of code never leave the mark of the block open."""
    section = Section(
        heading="g", lines=("x" * 2_900,), code=tuple(f"move {n}" for n in range(100))
    )
    text = texts(body(replace(MESSAGE, sections=(section,)), "k"))[2]
    assert len(text) <= 3_000
    assert text.endswith("```")
    assert text.count("```") == 2


LINES = st.text(max_size=4_000)
SECTIONS = st.builds(
    Section,
    heading=LINES,
    lines=st.lists(LINES, max_size=6).map(tuple),
    code=st.lists(st.text(max_size=200), max_size=30).map(tuple),
)


@given(
    title=st.text(min_size=1, max_size=400),
    summary=st.text(min_size=1, max_size=5_000),
    sections=st.lists(SECTIONS, max_size=8).map(tuple),
    footer=st.lists(LINES, max_size=14).map(tuple),
)
def test_every_message_is_within_slacks_limits(
    title: str, summary: str, sections: tuple[Section, ...], footer: tuple[str, ...]
) -> None:
    """Whatever is to be said, Slack takes it: block by block and as a whole."""
    posted = body(
        replace(MESSAGE, title=title, summary=summary, sections=sections, footer=footer), "k"
    )
    check_content(posted)
    assert len(json.dumps({"channel": "C0KAFKA001", **posted})) < BODY_LIMIT


def test_a_mention_calls_and_a_link_leads() -> None:
    """Whom a message calls is called in its text and in the notification; the run is a link among the notes."""
    called = replace(MESSAGE, mention="@here U012ABC", link="https://airflow/runs?a=1&b=2")
    posted = body(called, "k")
    check_content(posted)
    assert texts(posted)[1].startswith("<!here> <@U012ABC> payments: switch")
    assert posted["text"].startswith("<!here> <@U012ABC> orders: ")
    assert texts(posted)[-1] == "<https://airflow/runs?a=1&amp;b=2|Airflow run>"


def test_the_pages_about_it_are_links_before_the_run() -> None:
    """Report and runbook, then the run, with a name that is no markup."""
    address = "https://airflow/plugin/evenkeel/evenkeel/groups?cluster=eu&group=a%3Cb%3E%7C"
    posted = body(
        replace(MESSAGE, report=address, runbook="https://docs/a/", link="https://airflow/runs"),
        "k",
    )
    check_content(posted)
    escaped = address.replace("&", "&amp;")
    assert texts(posted)[-3:] == [
        f"<{escaped}|report>",
        "<https://docs/a/|runbook>",
        "<https://airflow/runs|Airflow run>",
    ]


@pytest.mark.parametrize(
    "odd", ["<!channel>", "@everyone", "u012abc", "javascript:x|y", "a> <!here>"]
)
def test_what_is_no_mention_and_no_link_is_text(odd: str) -> None:
    """Only what has the form of an id calls anybody, and only an address of the web leads anywhere."""
    posted = body(replace(MESSAGE, mention=odd, link=odd), "k")
    check_content(posted)
    assert "<" not in "".join([*texts(posted)[1:], posted["text"]])


def test_a_brief_message_is_one_block() -> None:
    """What is read on a phone has no dividers, and a single line stands behind its heading."""
    sections = (
        Section(heading="Since", lines=("09:00",)),
        Section(heading="What to do", lines=("Look.",), code=("evenkeel lag",)),
        Section(heading="Also", lines=("a", "b")),
    )
    posted = body(replace(MESSAGE, kind=MessageKind.INCIDENT_OPENED, sections=sections), "k")
    check_content(posted)
    assert [block["type"] for block in posted["blocks"]] == ["header", "section", "context"]
    assert texts(posted)[1] == (
        "payments: switch to sticky.\n*Since:* 09:00\n*What to do:* Look.\n```evenkeel lag```\n*Also*\na\nb"
    )


@given(sections=st.lists(SECTIONS, max_size=8).map(tuple), mention=LINES, link=LINES)
def test_every_brief_message_is_within_slacks_limits(
    sections: tuple[Section, ...], mention: str, link: str
) -> None:
    """Parts that one block does not hold go on in the next; a long mention or link is cut, too."""
    brief = replace(MESSAGE, kind=MessageKind.DIGEST, sections=sections, mention=mention, link=link)
    posted = body(brief, "k")
    check_content(posted)
    assert len(json.dumps({"channel": "C0KAFKA001", **posted})) < BODY_LIMIT
