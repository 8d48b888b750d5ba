"""The messages about groups: short, complete, nothing twice, and a command that works as it is copied."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.cli import app
from evenkeel.engine.cli.patterns import matching
from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.incident_message import Incident, line_of, message_of
from evenkeel.engine.messages.length import plain_text
from evenkeel.engine.messages.wording.incidents import called
from evenkeel.engine.model.facts import Fact, FactKind, fact, note
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.model.states import Diagnosis, IncidentState
from tests.helpers.group_incidents import (
    BEGAN,
    FACTS,
    GOOD,
    LAG,
    NOW,
    incident_of,
    readers_of,
    span_of,
    stated,
)
from tests.stage.slack_workspace import check_content

OPENED, WORSE, STILL, RESOLVED = (
    EventKind.OPENED,
    EventKind.WORSE,
    EventKind.STILL,
    EventKind.RESOLVED,
)

LONGEST = 1_500
"""Characters of one incident as plain text."""

MANY = (
    Diagnosis.NO_MEMBERS,
    Diagnosis.DATA_LOSS,
    Diagnosis.GROUP_NOT_COMMITTING,
    Diagnosis.CATCHING_UP,
    Diagnosis.UNDER_PROVISIONED,
)


def commands(message: AlertMessage) -> list[str]:
    """What the message has to be copied."""
    return [line for section in message.sections for line in section.code]


def parsed(command: str) -> Any:
    """A command line as our own parser takes it, down to its last argument; nothing is run."""
    program, *arguments = shlex.split(command)
    assert program == "evenkeel"
    group: Any = typer.main.get_command(app)
    with group.make_context("evenkeel", list(arguments)) as context:
        name, verb, rest = group.resolve_command(context, arguments)
        return verb.make_context(name, rest, parent=context)


def all_messages(incident: Incident) -> Iterator[AlertMessage]:
    """Every message that there can be about an incident."""
    for kind in (OPENED, WORSE, STILL, RESOLVED):
        yield message_of(incident, kind)
        yield line_of(incident, kind)


@pytest.mark.parametrize("cause", list(FACTS))
def test_a_cause_of_which_nothing_is_known_has_its_words(cause: Diagnosis) -> None:
    """Without facts and amount it is called by its name, and what changed is said to be unknown."""
    bare = {"causes": (span_of(cause, facts=(), amount=None),), "good_snapshot_id": None}
    message = message_of(
        incident_of(cause, course=bare, changed=None, owner=None, link=None), OPENED
    )
    assert message.title == f"orders-app (prod): {called(cause)}"
    assert "Changed: unknown, no snapshot is left in which it was healthy" in plain_text(message)
    assert parsed(commands(message)[0])


@pytest.mark.parametrize("cause", list(FACTS))
def test_how_bad_it_is_is_never_taken_for_what_is_wrong(cause: Diagnosis) -> None:
    """Where only the lag is known, the cause goes by its name."""
    bare = {"causes": (span_of(cause, facts=(LAG,), amount=None),)}
    message = message_of(incident_of(cause, course=bare), OPENED)
    assert message.title == f"orders-app (prod): {called(cause)}"
    assert message.summary == "Lag 1.85M."


def of(cause: Diagnosis, *facts: Fact, **columns: Any) -> Incident:
    """An incident of a cause with facts of its own."""
    return incident_of(cause, course={"causes": (span_of(cause, facts=facts),)}, **columns)


LOST = stated("data_loss", ["orders-0", "orders-3"], after=1_600_000, partitions=2)


def few(now: int, needed: int, most: int) -> Incident:
    """Too few members."""
    cause = Diagnosis.UNDER_PROVISIONED
    return of(cause, stated("under_provisioned", before=now, after=needed, bound=most))


EARLIER = (span_of(Diagnosis.NO_MEMBERS, missed=1), span_of(Diagnosis.OFFSETS_SKIPPED))
UNSEEN = tuple(replace(span, missed=1) for span in EARLIER)
FORMERLY = {"causes": (span_of(Diagnosis.CATCHING_UP),), "cause": Diagnosis.NO_MEMBERS}

SAID = {
    "nothing changed": (
        incident_of(Diagnosis.CATCHING_UP, changed=()),
        ["Changed: nothing that a snapshot shows"],
    ),
    "retention by time and by size, as either deletes": (
        of(Diagnosis.DATA_LOSS, LOST, LAG),
        [
            "Check retention.ms and retention.bytes, because either deletes.",
            "Next: evenkeel lag --cluster prod --group orders-app\n",
        ],
        ["kafka-configs"],
    ),
    "retention by size, where it is not by time": (
        of(Diagnosis.DATA_LOSS, LOST, stated("retention_ms", ["orders"], after=-1.0), LAG),
        [
            "retention.ms of orders is unlimited, so retention.bytes deletes.",
            "Next: evenkeel lag --cluster prod --group orders-app\n",
        ],
        ["kafka-configs"],
    ),
    "both limits of retention, where both are set": (
        of(
            Diagnosis.DATA_LOSS,
            LOST,
            stated("retention_ms", ["orders"], after=86_400_000, bound=50_000_000_000),
            LAG,
        ),
        [
            "retention.ms of orders is 86400000 (1 d), retention.bytes 50000000000 (50.0 GB): raise both.",
            "--add-config retention.ms=172800000,retention.bytes=100000000000\n",
        ],
        ["If "],
    ),
    "a loss of which nobody knows how many records it took": (
        of(Diagnosis.DATA_LOSS, stated("data_loss", ["orders-0"], partitions=1), LAG),
        ["orders-app (prod): data loss in 1 partition\n", "Raise retention of topic orders now."],
        ["None", "unread record deleted"],
    ),
    "our own command where the address of the cluster is not known": (
        incident_of(Diagnosis.DATA_LOSS, kafka=None),
        ["Next: evenkeel lag --cluster prod --group orders-app\n"],
        ["kafka-configs"],
    ),
    "what the newest snapshot does not show": (
        incident_of(Diagnosis.OFFSETS_SKIPPED, course={"causes": EARLIER}),
        ["Earlier: no active members\n"],
        ["Also", "othing is consuming"],
    ),
    "a newest snapshot that shows nothing": (
        incident_of(Diagnosis.OFFSETS_SKIPPED, course={"causes": UNSEEN}),
        ["Also: no active members, 25 min behind\n"],
    ),
    "what was worse before, by what is there now": (
        incident_of(Diagnosis.NO_MEMBERS, course=FORMERLY),
        ["orders-app (prod): 25 min behind", "Earlier: no active members\n"],
    ),
    "what was worse in the snapshot before, by what the newest shows": (
        incident_of(
            Diagnosis.NO_MEMBERS,
            course={"causes": (EARLIER[0], span_of(Diagnosis.CATCHING_UP))},
        ),
        ["orders-app (prod): 25 min behind", "Earlier: no active members\n"],
        ["othing is consuming"],
    ),
    "why it is behind is acted upon": (
        incident_of(Diagnosis.CATCHING_UP, Diagnosis.UNDER_PROVISIONED),
        ["orders-app (prod): 25 min behind", " Scale to 5 members.\n"],
    ),
    "who came and went is compared": (
        incident_of(Diagnosis.CATCHING_UP, Diagnosis.REBALANCING),
        [
            "Find the members that join and leave.",
            f"evenkeel diff --cluster prod --since {GOOD} --group ",
        ],
    ),
    "as many members as partitions keep busy": (
        few(3, 9, 4),
        [
            "Scale to 4 members, then add partitions.",
            "4 partitions: at most 4 members can be active, 9 would be needed.",
        ],
    ),
    "no more members than partitions": (
        few(4, 9, 4),
        ["Add partitions, or make its members faster."],
    ),
    "several are counted": (
        of(
            Diagnosis.MEMBER_NOT_COMMITTING,
            stated("member_not_committing", "ab", before=9, after=760, partitions=4),
        ),
        [
            "orders-app (prod): 2 members not committing for 13 min",
            "a, b have stopped committing on 4 partitions, 9 records/s incoming there.",
            "Check the logs of 2 members, then restart them.",
        ],
    ),
    "an offset that is unknown, and never 0": (
        of(Diagnosis.STUCK_PARTITION, stated("stuck_at", ["orders-3"], before=float("nan"))),
        ["orders-3 at offset unknown, end unknown, no owner"],
    ),
    "what could not be read of it": (
        of(
            Diagnosis.UNKNOWN,
            stated("partitions_unreadable", ["orders-1", "orders-2"], partitions=2),
        ),
        [
            "orders-app (prod): 2 partitions unreadable\n\n",
            "The end or the commit of 2 partitions can't be read (orders-1, orders-2). Check",
        ],
    ),
}
"""Incidents that are not in the file of all messages, what their message says, and what it does not."""


@pytest.mark.parametrize("told", SAID.values(), ids=SAID)
def test_its_message_says(told: tuple[Any, ...]) -> None:
    """What is there, what was, where to look and what to do; where somebody is stands beside since when."""
    incident, said, *unsaid = told
    message = message_of(incident, OPENED)
    text = plain_text(message)
    assert [each for each in said if each not in text] == []
    assert [each for some in unsaid for each in some if each in text] == []
    assert "10.0.0" not in message.summary


@pytest.mark.parametrize("cause", list(FACTS))
def test_nothing_is_said_twice(cause: Diagnosis) -> None:
    """No line comes again, and what a clause says of how bad it is stands there only."""
    others = [other for other in MANY if other.precedence > cause.precedence]
    course = {"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    for message in all_messages(incident_of(cause, *others, course=course)):
        lines = [line.strip() for line in plain_text(message).splitlines() if line.strip()]
        assert len(lines) == len(set(lines))
        assert max(len(re.findall(r"1,236 records/s", line)) for line in lines) <= 1
        assert len(plain_text(message)) <= LONGEST


def test_only_a_more_severe_cause_calls_again() -> None:
    """Who was called for it once is called again when a warning becomes critical, not when a number grows."""
    rose = incident_of(
        Diagnosis.NO_MEMBERS, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    grew = incident_of(
        Diagnosis.CATCHING_UP, course={"readers": readers_of(Diagnosis.CATCHING_UP, 600)}
    )
    assert line_of(rose, WORSE).mention == "S012ABCDEF"
    assert line_of(grew, STILL).mention is None
    assert message_of(grew, OPENED).mention == "S012ABCDEF"


def test_programs_get_its_subject() -> None:
    """Each message says for receivers that page which incident it is about."""
    for message in all_messages(incident_of(Diagnosis.GROUP_NOT_COMMITTING)):
        subject = message.subject
        assert subject is not None
        assert (subject.key, subject.cluster, subject.group_id, subject.cause) == (
            "prod/orders-app/prod-20260301T024000Z-abc124",
            "prod",
            "orders-app",
            "group not committing",
        )
        assert (subject.owner, subject.began_at) == ("payments", BEGAN)
        assert AlertMessage.from_json(message.to_json()) == message


@pytest.mark.parametrize("cause", list(FACTS))
def test_the_command_is_one_of_ours(cause: Diagnosis) -> None:
    """It parses down to the last argument, and names cluster and group."""
    (command, *_) = commands(message_of(incident_of(cause, kafka=None), OPENED))
    assert parsed(command).params
    assert re.search(r"\bprod\b", command)
    assert re.search(r"\borders-app\b", command) or cause is Diagnosis.UNKNOWN


MOMENT = re.compile(r"<!date\^\d+\^{date_short_pretty} {time}\|[-\d]+ \d\d:\d\d UTC>")

NAMES = st.one_of(
    st.text(min_size=1, max_size=300),
    st.sampled_from(
        ["<!channel>", "<@U0123ABC>", "$(rm -rf /)", "a'b\"c", "--help", "-", "a`b`", "x\ny", "*[a]?", "~", "a  b"]
    ),
)  # fmt: skip


@given(group=NAMES, cause=st.sampled_from([*FACTS]), member=NAMES, topic=NAMES, owner=NAMES)
def test_odd_names_do_no_harm(
    group: str, cause: Diagnosis, member: str, topic: str, owner: str
) -> None:
    """Whatever things are called: it fits, mentions nobody, and its command means the group."""
    changed = (note("members_left", [member] * 25), note("topic_gone", [topic]))
    facts = (fact(FactKind.DIAGNOSIS, "stuck_partition", [topic] * 5, after=5, partitions=5),)
    course = {
        "causes": (span_of(cause), span_of(Diagnosis.STUCK_PARTITION, facts=facts)),
        "readers": readers_of(Diagnosis.CATCHING_UP, 600),
    }
    incident = incident_of(cause, group=group, course=course, changed=changed, owner=owner)
    for message in all_messages(incident):
        text = plain_text(message)
        assert len(text) <= LONGEST
        assert text.replace("\n", "").isprintable()
        posted = body(message, "k")
        check_content(posted)
        marked = "".join(
            part["text"]
            for block in posted["blocks"][1:]
            for part in block.get("elements") or [block["text"]]
        )
        calls = {call for call in re.findall("<[^>]*>", marked) if not MOMENT.fullmatch(call)}
        assert calls <= {f"<{incident.link}|Airflow run>", "<!subteam^S012ABCDEF>"}
        assert len(message.title) <= 80
    command = commands(message_of(incident, OPENED))[0]
    assert f"{command}" in body(message_of(incident, OPENED), "k")["blocks"][1]["text"][
        "text"
    ].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    is_kafkas = command.startswith("kafka-")
    meant = None if is_kafkas else parsed(command).params.get("group")
    assert meant is None or matching(str(meant), [group, "another"]) == [group]


@pytest.mark.parametrize(
    ("lag", "seconds", "amount", "peaks"),
    [
        (1_910_000, 1500.0, 1500.0, " · peak lag 1.91M"),
        (None, None, 1500.0, ""),
    ],
)
def test_the_end_of_an_incident_has_its_peaks(
    lag: float | None, seconds: float | None, amount: float | None, peaks: str
) -> None:
    """The largest lag and time behind; what is unknown, and what was reported last, has no place there."""
    cause = Diagnosis.NO_MEMBERS
    course = {
        "state": IncidentState.RESOLVED,
        "readers": readers_of(cause, amount),
        "well_since": NOW,
        "closed_at": NOW,
        "peak_lag": lag,
        "peak_behind_seconds": seconds,
    }
    over = incident_of(cause, course=course)
    when = "2026-03-01 02:40 UTC to 2026-03-01 03:05 UTC"
    assert f"When: {when}{peaks}\n" in plain_text(message_of(over, RESOLVED))
    assert f"{when}{peaks.replace(' · ', ', ')}." in plain_text(line_of(over, RESOLVED))
